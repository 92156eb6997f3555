// The HTML of shares: plain pages without script, for any browser and any size of screen.
import { hash } from 'node:crypto';
import { escapeHtml } from '../kernel/text/html.ts';

export interface ShareForm {
  readonly name: string;
  readonly bytes: number;
  readonly hasPassword: boolean;
  /** Relative to the page. */
  readonly downloadPath: string;
  readonly isWrong: boolean;
}

const style = `:root { color-scheme: light dark; --ink: #1d2733; --soft: #5a6675; --paper: #fff; --ground: #f0f2f5;
  --line: #8a95a3; --accent: #17518a; --on-accent: #fff; --wrong: #a3141f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf1; --soft: #a5b0be; --paper: #1e262f; --ground: #12171d;
  --line: #66717f; --accent: #7db8f0; --on-accent: #0c1a28; --wrong: #ff8d8d; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); margin: 0; min-height: 100vh;
  display: flex; flex-direction: column; align-items: center; justify-content: center; padding: 1rem; }
main { width: 100%; max-width: 26rem; padding: 2rem 1.5rem; background: var(--paper); border-radius: 12px;
  box-shadow: 0 1px 4px #0003; text-align: center; }
svg { width: 3rem; height: 3rem; color: var(--accent); }
h1 { font-size: 1.25rem; line-height: 1.35; margin: 0.75rem 0 0.25rem; overflow-wrap: anywhere; }
p { margin: 0; color: var(--soft); }
form { margin-top: 1.5rem; }
label { display: block; text-align: left; margin-bottom: 0.25rem; }
input, .button { font: inherit; width: 100%; min-height: 3rem; padding: 0.6rem 0.9rem; border-radius: 8px; }
input { color: inherit; background: transparent; border: 1px solid var(--line); }
.button { display: flex; align-items: center; justify-content: center; margin-top: 1rem; border: 0; cursor: pointer;
  background: var(--accent); color: var(--on-accent); font-weight: 600; text-decoration: none; }
a.button { margin-top: 1.5rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wrong { color: var(--wrong); margin-top: 0.5rem; text-align: left; }`;

const styleHash = hash('sha256', style, 'base64');

export const sharePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="robots" content="noindex">
  <title>${escapeHtml(title)}</title>
  <link rel="icon" href="data:,">
  <style>${style}</style>
</head>
<body>
  <main>
${content}
  </main>
</body>
</html>
`;

const icon = `    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" aria-hidden="true"><path d="M14 3H6v18h12V7z"/><path d="M14 3v4h4"/></svg>`;

export function renderShare({ name, bytes, hasPassword, downloadPath, isWrong }: ShareForm): string {
  const shown = name === '' ? 'File' : name;
  const head = `${icon}
    <h1 dir="auto">${escapeHtml(shown)}</h1>
    <p>${formatSize(bytes)}</p>`;
  if (!hasPassword)
    return page(shown, `${head}\n    <a class="button" href="${downloadPath}" rel="nofollow">Download</a>`);
  const wrong = '\n      <p class="wrong" id="wrong" role="alert">This password is wrong.</p>';
  return page(
    shown,
    `${head}
    <form method="post" action="${downloadPath}">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="off" maxlength="200" required autofocus${isWrong ? ' aria-invalid="true" aria-describedby="wrong"' : ''}>${isWrong ? wrong : ''}
      <button class="button">Download</button>
    </form>`,
  );
}

export const renderMessage = (title: string, text: string): string =>
  page(title, `    <h1>${escapeHtml(title)}</h1>\n    <p>${escapeHtml(text)}</p>`);

export const nothingPage = renderMessage(
  'Nothing here',
  'This link is wrong or no longer works. Ask whoever sent it for a new one.',
);

const units = ['KiB', 'MiB', 'GiB', 'TiB'];

function formatSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  let size = bytes / 1024;
  let unit = 0;
  for (; size >= 1023.95 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${size.toFixed(1)} ${units[unit]}`;
}
