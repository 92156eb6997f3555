// Asks the back end for a session and shows the files of its user.
import { createClient } from '@pakhus/client';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../back-end/page/page.css';
import { FilesPage } from './FilesPage.jsx';

async function askBackEnd() {
  const response = await fetch('/session', { method: 'POST' });
  if (!response.ok) throw new Error((await response.json()).error);
  return response.json();
}

const root = createRoot(document.getElementById('root'));
try {
  const { baseUrl } = await askBackEnd();
  const { files } = createClient({ baseUrl, token: async () => (await askBackEnd()).token }).user();
  root.render(
    <StrictMode>
      <FilesPage files={files} />
    </StrictMode>,
  );
} catch (error) {
  root.render(<p role="alert">{error.message}</p>);
}
