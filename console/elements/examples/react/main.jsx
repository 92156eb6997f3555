import { createRoot } from 'react-dom/client';
import { FilesPage } from './FilesPage.jsx';

const { baseUrl } = await (await fetch('/token')).json();
createRoot(document.getElementById('root')).render(<FilesPage baseUrl={baseUrl} />);
