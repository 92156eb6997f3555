// What the project is called, and how programs reach it.
import { Link, serviceUrl } from '../../frame/router.tsx';
import { ScreenTitle } from '../../frame/screens.tsx';
import { session } from '../../frame/session.ts';
import { t } from '../../texts/texts.ts';
import { Foreign } from '../../ui/parts.tsx';
import { CopyField } from '../../ui/secret.tsx';
import { TrashSetting } from './trash-setting.tsx';

export function Settings() {
  const texts = t.owner.settings;
  const account = session.value;
  return (
    <div class="stack wide">
      <ScreenTitle>{texts.title}</ScreenTitle>
      <div class="columns">
        <section class="card stack">
          <h2>{texts.project}</h2>
          <dl class="facts">
            <dt>{texts.name}</dt>
            <dd>
              <Foreign>{account?.name}</Foreign>
            </dd>
            <dt>{texts.email}</dt>
            <dd>{account?.email}</dd>
            <dt>{texts.id}</dt>
            <dd>
              <code class="mono">{account?.project_id}</code>
            </dd>
          </dl>
          <p class="soft">{texts.nameHint}</p>
          <p>
            <Link to="/account">{texts.security}</Link>
          </p>
        </section>
        <TrashSetting />
        <section class="card stack">
          <h2>{texts.connect}</h2>
          <p class="soft">{texts.connectHint}</p>
          <Snippet label={texts.baseUrl} text={serviceUrl} />
          <Snippet label={texts.command} text={`npx pakhus login ${serviceUrl}`} />
          <Snippet
            label={texts.client}
            text={`createClient({ baseUrl: '${serviceUrl}', key: process.env.PAKHUS_KEY })`}
          />
          <p>
            <a href={`${serviceUrl}/llms.txt`}>{texts.guides}</a>
          </p>
        </section>
      </div>
    </div>
  );
}

const Snippet = ({ label, text }: { label: string; text: string }) => (
  <div class="stack tight">
    <span class="label">{label}</span>
    <CopyField value={text} label={label} />
  </div>
);
