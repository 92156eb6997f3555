// A hook for uploads: what is on its way, and functions to start, pause, resume and abort.
import { useCallback, useEffect, useRef, useState } from 'react';

/**
 * `files` is `client.user(…).files`. Returns `uploads`, each with `id`, `name`, `loaded`, `total`, `rate`, `isPaused` and `error`, and the
 * functions that take such an `id`. An upload leaves the list when it is stored or aborted; `onStored` gets the file.
 */
export function useUpload(files, onStored) {
  const [uploads, setUploads] = useState([]);
  const tasks = useRef(new Map());

  // What was sent stays, and goes on when the same file is chosen again.
  useEffect(() => {
    const { current } = tasks;
    return () => {
      for (const task of current.values()) task.pause();
    };
  }, []);

  const change = useCallback(
    (id, fields) => setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...fields } : one))),
    [],
  );
  const remove = useCallback((id) => setUploads((all) => all.filter((one) => one.id !== id)), []);

  const start = useCallback(
    async (file, options) => {
      const id = crypto.randomUUID();
      const { name, size: total } = file;
      setUploads((all) => [...all, { id, name, loaded: 0, total, rate: 0, isPaused: false, error: null }]);
      const task = files.upload(file, { ...options, onProgress: (progress) => change(id, progress) });
      tasks.current.set(id, task);
      try {
        const stored = await task;
        remove(id);
        onStored?.(stored);
      } catch (error) {
        if (error.name === 'AbortError') remove(id);
        else change(id, { error });
      } finally {
        tasks.current.delete(id);
      }
    },
    [files, onStored, change, remove],
  );

  const pause = useCallback(
    (id) => {
      tasks.current.get(id)?.pause();
      change(id, { isPaused: true });
    },
    [change],
  );
  const resume = useCallback(
    (id) => {
      tasks.current.get(id)?.resume();
      change(id, { isPaused: false });
    },
    [change],
  );
  /** Also dismisses one that has failed. */
  const abort = useCallback(
    (id) => {
      tasks.current.get(id)?.abort();
      remove(id);
    },
    [remove],
  );

  return { uploads, start, pause, resume, abort };
}
