// Uppy with its tus plugin. The back end creates each upload and gives the page its URL.
import Uppy from '@uppy/core';
import Tus from '@uppy/tus';
import '../back-end/page/page.css';

const find = (id) => document.getElementById(id);
const uppy = new Uppy({ autoProceed: true });
uppy.use(Tus, {
  chunkSize: 8 * 2 ** 20,
  retryDelays: [0, 1000, 3000, 5000, 10_000, 20_000],
  // The URL of a new upload is asked for each time, so a remembered one would never be used.
  storeFingerprintForResuming: false,
});

uppy.addPreProcessor(async (ids) => {
  await Promise.all(ids.map((id) => reserve(uppy.getFile(id))));
});

async function reserve({ id, name, size, type, tus }) {
  // A retry goes on with the URL that it has.
  if (tus?.uploadUrl) return;
  const response = await fetch('/uploads', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, size, mimeType: type }),
  });
  const { url, error } = await response.json();
  if (response.ok) uppy.setFileState(id, { tus: { uploadUrl: url } });
  else uppy.emit('upload-error', uppy.getFile(id), new Error(error));
}

const rows = new Map();
const show = (file, state) => {
  rows.get(file.id).querySelector('.state').textContent = state;
};

uppy.on('file-added', ({ id, name }) => {
  const row = find('upload').content.firstElementChild.cloneNode(true);
  const pause = row.querySelector('.pause');
  row.querySelector('.name').textContent = name;
  row.querySelector('progress').setAttribute('aria-label', `Progress of ${name}`);
  pause.addEventListener('click', () => {
    pause.textContent = uppy.pauseResume(id) ? 'Resume' : 'Pause';
  });
  row.querySelector('.cancel').addEventListener('click', () => uppy.removeFile(id));
  rows.set(id, row);
  find('uploads').append(row);
});
uppy.on('file-removed', ({ id }) => rows.get(id).remove());
uppy.on('upload-progress', (file, { bytesUploaded, bytesTotal }) => {
  rows.get(file.id).querySelector('progress').value = bytesUploaded / bytesTotal;
  show(file, `${Math.floor((100 * bytesUploaded) / bytesTotal)} %`);
});
uppy.on('upload-success', (file) => {
  show(file, 'Stored');
  for (const button of rows.get(file.id).querySelectorAll('button')) button.disabled = true;
});
uppy.on('upload-error', (file, error) => {
  show(file, error.message);
  rows.get(file.id).querySelector('.pause').disabled = true;
});

find('pick').addEventListener('change', ({ target }) => {
  for (const data of target.files) uppy.addFile({ name: data.name, type: data.type, data });
  target.value = '';
});
