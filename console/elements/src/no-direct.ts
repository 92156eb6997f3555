// Stands in for the client's direct uploads, which pages never make.

export const sendDirect = (): never => {
  throw new Error('Pages do not upload directly');
};
