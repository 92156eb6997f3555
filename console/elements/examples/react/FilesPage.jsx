import '@pakhus/elements';
import { useState } from 'react';

const getToken = async () => (await (await fetch('/token')).json()).token;

/** React sets properties, and listens to an event as `on` followed by its name. */
export function FilesPage({ baseUrl }) {
  const [last, setLast] = useState('none');
  return (
    <>
      <h1>My files</h1>
      <pakhus-files
        baseUrl={baseUrl}
        token={() => getToken()}
        onuploaded={({ detail }) => setLast(detail.file.name)}
      />
      <p>
        Last upload: <output>{last}</output>
      </p>
    </>
  );
}
