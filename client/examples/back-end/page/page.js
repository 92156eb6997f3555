// Uploads with progress, pause, resume and cancel, and lists the files of the user who is logged in.
import { createClient } from '/client/index.js';

const find = (id) => document.getElementById(id);

async function askBackEnd() {
  const response = await fetch('/session', { method: 'POST' });
  if (!response.ok) throw new Error((await response.json()).error);
  return response.json();
}

const formatSize = (bytes) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

async function showFiles(files) {
  const rows = [];
  for await (const { name, size, created_at } of files.list()) {
    const row = document.createElement('tr');
    for (const text of [name, formatSize(size), new Date(created_at).toLocaleString()])
      row.insertCell().textContent = text;
    row.cells[0].className = 'name';
    rows.push(row);
  }
  find('files').replaceChildren(...rows);
  find('message').textContent = rows.length === 0 ? 'Nothing yet.' : '';
}

async function upload(files, file) {
  const row = find('upload').content.firstElementChild.cloneNode(true);
  const [progress, state] = [row.querySelector('progress'), row.querySelector('.state')];
  const [pause, cancel] = [row.querySelector('.pause'), row.querySelector('.cancel')];
  row.querySelector('.name').textContent = file.name;
  progress.setAttribute('aria-label', `Progress of ${file.name}`);

  const task = files.upload(file, {
    onProgress: ({ loaded, total, rate }) => {
      progress.value = loaded / total;
      state.textContent = `${formatSize(loaded)} of ${formatSize(total)}, ${formatSize(rate)}/s`;
    },
  });
  pause.addEventListener('click', () => {
    if (task.isPaused) task.resume();
    else task.pause();
    pause.textContent = task.isPaused ? 'Resume' : 'Pause';
  });
  cancel.addEventListener('click', () => task.abort());
  find('uploads').append(row);

  try {
    await task;
    row.remove();
    await showFiles(files);
  } catch (error) {
    state.textContent = error.name === 'AbortError' ? 'Cancelled' : error.message;
    pause.disabled = cancel.disabled = true;
  }
}

try {
  const { baseUrl } = await askBackEnd();
  const { files } = createClient({ baseUrl, token: async () => (await askBackEnd()).token }).user();
  find('pick').addEventListener('change', ({ target }) => {
    for (const file of target.files) upload(files, file);
    // So that the same file can be chosen again.
    target.value = '';
  });
  find('pick').disabled = false;
  await showFiles(files);
} catch (error) {
  find('message').textContent = error.message;
}
