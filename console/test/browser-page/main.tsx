// A page with the file browser as the console uses it: with details, and with its state in the address.
import { createClient } from '@pakhus/client';
import { signal } from '@preact/signals';
import { render } from 'preact';
import { Details } from '../../src/browser/details.tsx';
import { lastingFetch } from '../../src/browser/fetch.ts';
import { FileBrowser } from '../../src/browser/file-browser.tsx';
import { More } from '../../src/browser/more/more.tsx';
import { moreEnglish } from '../../src/browser/texts.more.en.ts';
import '../../src/browser/browser.css';
import '../../src/styles/tokens.css';
import './page.css';

const query = new URLSearchParams(location.search);
const { baseUrl, token } = await (await fetch(`/token?${query}`)).json();
const client = createClient({ baseUrl, token, fetch: lastingFetch });
const user = client.user();
const delivery = { ...user, variants: client.project.variants, zip: user.files.zip };
const folder = signal(query.get('folder') ?? '');
const fileId = signal(query.get('file'));

const Page = () => (
  <FileBrowser
    user={user}
    folder={folder.value}
    onFolderChange={(next) => {
      folder.value = next;
    }}
    selectedFileId={fileId.value}
    onOpenFile={(next) => {
      fileId.value = next;
    }}
    details={Details}
    more={async () => ({ More, texts: moreEnglish, deliver: () => delivery })}
  />
);

render(<Page />, document.querySelector('main') ?? document.body);
