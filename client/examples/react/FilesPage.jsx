// The page: choose files, watch them go, see what is stored.
import { useCallback, useEffect, useState } from 'react';
import { useUpload } from './useUpload.js';

export function FilesPage({ files }) {
  const [stored, setStored] = useState([]);
  const [message, setMessage] = useState('');
  const refresh = useCallback(
    async (signal) => {
      try {
        const all = [];
        for await (const file of files.list({}, { signal })) all.push(file);
        setStored(all);
        setMessage(all.length === 0 ? 'Nothing yet.' : '');
      } catch (error) {
        if (!signal?.aborted) setMessage(error.message);
      }
    },
    [files],
  );
  const { uploads, start, pause, resume, abort } = useUpload(
    files,
    useCallback(() => refresh(), [refresh]),
  );
  useEffect(() => {
    const leaving = new AbortController();
    refresh(leaving.signal);
    return () => leaving.abort();
  }, [refresh]);

  const choose = ({ target }) => {
    for (const file of target.files) start(file);
    // So that the same file can be chosen again.
    target.value = '';
  };
  return (
    <>
      <h1>Your files</h1>
      <label className="pick">
        Add files <input type="file" multiple onChange={choose} />
      </label>
      <ul aria-label="Uploads">
        {uploads.map((upload) => (
          <Upload key={upload.id} upload={upload} pause={pause} resume={resume} abort={abort} />
        ))}
      </ul>
      <StoredFiles files={stored} />
      <p role="status">{message}</p>
    </>
  );
}

function Upload({ upload, pause, resume, abort }) {
  const { id, name, loaded, total, rate, isPaused, error } = upload;
  const state = `${formatSize(loaded)} of ${formatSize(total)}, ${formatSize(rate)}/s`;
  return (
    <li>
      <span className="name">{name}</span>
      <progress aria-label={`Progress of ${name}`} max={total || 1} value={loaded} />
      <span className="state" role="status">
        {error ? error.message : state}
      </span>
      <button type="button" disabled={error !== null} onClick={() => (isPaused ? resume(id) : pause(id))}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button type="button" onClick={() => abort(id)}>
        {error ? 'Dismiss' : 'Cancel'}
      </button>
    </li>
  );
}

const StoredFiles = ({ files }) => (
  <table>
    <caption>Stored</caption>
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Size</th>
        <th scope="col">Added</th>
      </tr>
    </thead>
    <tbody>
      {files.map(({ id, name, size, created_at }) => (
        <tr key={id}>
          <td className="name">{name}</td>
          <td>{formatSize(size)}</td>
          <td>{new Date(created_at).toLocaleString()}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const formatSize = (bytes) =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
