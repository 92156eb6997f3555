import '@pakhus/elements';

const ask = async () => (await fetch('/token')).json();
const element = document.querySelector('pakhus-files');
element.addEventListener('uploaded', ({ detail }) => {
  document.querySelector('output').textContent = detail.file.name;
});
element.baseUrl = (await ask()).baseUrl;
element.token = async () => (await ask()).token;
