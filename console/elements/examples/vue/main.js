import '@pakhus/elements';
import { createApp, h, ref } from 'vue';

const ask = async () => (await fetch('/token')).json();
const { baseUrl } = await ask();

/** The same as <pakhus-files :base-url.prop="baseUrl" :token="getToken" @uploaded="…" /> in a template. */
const FilesPage = {
  setup() {
    const last = ref('none');
    return () => [
      h('h1', 'My files'),
      h('pakhus-files', {
        baseUrl,
        token: async () => (await ask()).token,
        onUploaded: ({ detail }) => {
          last.value = detail.file.name;
        },
      }),
      h('p', ['Last upload: ', h('output', last.value)]),
    ];
  },
};

createApp(FilesPage).mount('#root');
