// The page that a password-reset link opens, unless RESET_URL names another. It sends the new password to the API from
// the browser.
import { resetPath } from '../features/accounts/accounts.password.ts';
import { apiPrefix } from './route-table.ts';

export const resetPage = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>New password – Pakhus</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${resetPath}/page.css">
</head>
<body>
  <main>
    <h1>New password</h1>
    <form id="form" method="post">
      <label for="password">Password, at least 8 characters</label>
      <input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="256"
        required autofocus>
      <label for="again">Repeat the password</label>
      <input id="again" name="again" type="password" autocomplete="new-password" required>
      <button>Set the password</button>
    </form>
    <p id="message" role="status"></p>
    <noscript><p>This page needs JavaScript to send the password.</p></noscript>
  </main>
  <script src="${resetPath}/page.js"></script>
</body>
</html>`;

export const resetStyle = `body { font: 16px/1.5 system-ui, sans-serif; color: #1d2733; background: #f4f5f7; margin: 0; }
main { max-width: 22rem; margin: 12vh auto; padding: 1.5rem 2rem 2rem; background: #fff; border-radius: 8px;
  box-shadow: 0 1px 4px #0003; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
label { display: block; margin-top: 0.75rem; }
input, button { font: inherit; width: 100%; box-sizing: border-box; padding: 0.5rem; border-radius: 4px; }
input { border: 1px solid #98a2b0; }
button { margin-top: 1.25rem; border: 0; background: #17518a; color: #fff; cursor: pointer; }
button:disabled { background: #98a2b0; }
#message.failed { color: #a3141f; }`;

export const resetScript = `const form = document.getElementById('form');
const message = document.getElementById('message');
const token = new URLSearchParams(location.search).get('token') ?? '';
// Keeps the token out of the address bar and the history.
history.replaceState(null, '', location.pathname);

const say = (text, failed) => {
  message.textContent = text;
  message.className = failed ? 'failed' : '';
};

// For people: the message of a validation error uses the names of the API.
const toMessage = ({ message, details }) => {
  const findIssue = (path) => details?.issues?.find((issue) => issue.path === path);
  if (findIssue('token')) return 'This link is wrong, has expired or has been used: request a new one.';
  const issue = findIssue('newPassword');
  return issue ? 'The password ' + issue.message + '.' : message;
};

async function setPassword(newPassword) {
  const answer = await fetch('${apiPrefix}/auth/reset-password', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, newPassword }),
  });
  if (!answer.ok) throw new Error(toMessage((await answer.json()).error));
}

if (!token) {
  form.hidden = true;
  say('This link is incomplete: open the whole link from the mail.', true);
}
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (form.password.value !== form.again.value) return say('The passwords do not match.', true);
  form.querySelector('button').disabled = true;
  try {
    await setPassword(form.password.value);
    form.hidden = true;
    say('The password is set. You can log in with it now.', false);
  } catch (error) {
    form.querySelector('button').disabled = false;
    say(error.message, true);
  }
});`;
