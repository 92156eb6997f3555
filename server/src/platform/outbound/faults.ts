// Why a request to a tenant's address came to nothing, in words that its owner may read.

/** The address is not allowed. The message completes the sentence "The URL …". */
export class OutboundRefusal extends Error {
  override readonly name = 'OutboundRefusal';
}

/** No answer came. The message is a sentence. */
export class OutboundFault extends Error {
  override readonly name = 'OutboundFault';
}

/** The request was given up because the process stops: nobody knows whether it arrived. */
export class OutboundAborted extends Error {
  override readonly name = 'OutboundAborted';
}

const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: 'The connection was closed before an answer came',
  EPIPE: 'The connection was closed before an answer came',
  UND_ERR_SOCKET: 'The connection was closed before an answer came',
  ETIMEDOUT: 'The connection could not be opened in time',
  UND_ERR_CONNECT_TIMEOUT: 'The connection could not be opened in time',
  EHOSTUNREACH: 'The host cannot be reached',
  ENETUNREACH: 'The host cannot be reached',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too long',
};

/** Codes of OpenSSL and of Node's own check of the name. */
const certificateCodes = /CERT|SIGNATURE|ISSUER|CRL|TLS|SSL/;

export function toFault(error: unknown): OutboundFault {
  if (error instanceof OutboundFault) return error;
  const code = codeOf(error);
  const sentence =
    sentences[code] ??
    ((error as Error).name === 'HTTPParserError' ? 'The answer is not valid HTTP' : null) ??
    (certificateCodes.test(code) ? `The TLS connection could not be trusted (${code})` : null) ??
    `The request failed${code && ` (${code})`}`;
  return new OutboundFault(sentence, { cause: error });
}

/** Of the error, or of the first of several addresses that failed. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? '' : codeOf(errors[0]);
}

/** The peer closed a connection, perhaps one that it had meant to close since the previous answer. */
export const isClosedByPeer = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));
