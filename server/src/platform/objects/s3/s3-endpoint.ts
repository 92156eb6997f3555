// Where the requests for a bucket go: path style or virtual-host style.
import { encodePath } from '../../../kernel/crypto/sigv4.ts';

export interface EndpointOptions {
  /** Without one: Amazon's own for the region. A path in it is kept before every key. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly forcePathStyle: boolean;
}

export interface Endpoint {
  readonly origin: string;
  readonly host: string;
  /** The path before the key, without a slash at its end. */
  readonly base: string;
}

/** Endpoints by bucket, computed once each. */
export class Endpoints {
  readonly #options: EndpointOptions;
  readonly #known = new Map<string, Endpoint>();

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  find(bucket: string): Endpoint {
    let endpoint = this.#known.get(bucket);
    if (!endpoint) {
      endpoint = locate(this.#options, bucket);
      this.#known.set(bucket, endpoint);
    }
    return endpoint;
  }
}

function locate(options: EndpointOptions, bucket: string): Endpoint {
  const url = new URL(options.endpoint ?? `https://s3.${options.region}.amazonaws.com`);
  const prefix = encodePath(decodeURIComponent(url.pathname.replace(/\/+$/, '')));
  if (options.forcePathStyle) {
    return { origin: url.origin, host: url.host, base: `${prefix}/${bucket}` };
  }
  const host = `${bucket}.${url.host}`;
  return { origin: `${url.protocol}//${host}`, host, base: prefix };
}
