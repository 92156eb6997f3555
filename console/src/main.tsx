// The console starts here: texts, session, then the screen of the address.
import './styles/tokens.css';
import './styles/base.css';
import './styles/ui.css';
import './styles/frame.css';
import { render } from 'preact';
import { Layout, Mark, ThemeMenu } from './frame/layout.tsx';
import { path } from './frame/router.tsx';
import { CurrentScreen, findScreen } from './frame/screens.tsx';
import { ended, loadSession, session } from './frame/session.ts';
import { Login } from './screens/account/login.tsx';
import { screens } from './screens/table.ts';
import { loadTexts, t } from './texts/texts.ts';
import { Dialog } from './ui/dialog.tsx';
import { ErrorNote } from './ui/error-note.tsx';
import { Toasts } from './ui/toasts.tsx';

function App() {
  const isPublic = findScreen(screens, path.value)?.screen.for === 'public';
  return (
    <>
      {session.value && !isPublic ? (
        <Layout>
          <CurrentScreen screens={screens} />
        </Layout>
      ) : (
        <Gate>{isPublic ? <CurrentScreen screens={screens} /> : <Login />}</Gate>
      )}
      {ended.value && <LoginAgain />}
      <Toasts />
    </>
  );
}

const Gate = ({ children }: { children: preact.ComponentChildren }) => (
  <div class="gate">
    <header>
      <ThemeMenu />
    </header>
    <main>
      <div class="brand">
        <Mark />
        {t.frame.product}
      </div>
      <div class="card">{children}</div>
    </main>
  </div>
);

const LoginAgain = () => (
  <Dialog title={t.frame.sessionEnded} onClose={() => undefined} closable={false}>
    <p>{t.frame.sessionEndedHint}</p>
    <Login isAgain />
  </Dialog>
);

async function start(root: HTMLElement): Promise<void> {
  await loadTexts(navigator.languages);
  try {
    await loadSession();
    render(<App />, root);
  } catch (error) {
    render(<ErrorNote error={error} onRetry={() => start(root)} />, root);
  }
}

const root = document.getElementById('app');
if (root) void start(root);
