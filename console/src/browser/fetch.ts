// For createClient({ fetch }): a deletion that has been sent outlives the page that sent it.

export const lastingFetch: typeof fetch = (input, init) =>
  fetch(input, init?.method === 'DELETE' ? { ...init, keepalive: true } : init);
