// What the links of shares lead to. No script, no credential: the secret in the URL is the permission. A share with a
// password sets a cookie for its own path once the password was given, so that its download can be resumed.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../contract/deps.ts';
import { describeShare, downloadShare, unlockShare } from '../features/shares/shares.open.ts';
import { passSeconds } from '../kernel/crypto/share-proof.ts';
import type { PakhusError } from '../kernel/error.ts';
import { publicPath } from './console.ts';
import { findAddress, findAddresses, ownOrigin, RequestCall } from './context.ts';
import { readCookie } from './credential.ts';
import { toPakhusError } from './error-reply.ts';
import { limitShares } from './rate-limit.ts';
import { nothingPage, renderMessage, renderShare, sharePolicy } from './share-page.ts';

const path = '/s/:token';
const formType = 'application/x-www-form-urlencoded';
const formBytesMax = 4096;
const passCookie = 'pakhus_share';

interface SharePath {
  readonly Params: { readonly token: string };
}

type ShareRequest = FastifyRequest<SharePath>;

export function serveShares(instance: FastifyInstance, deps: Deps): void {
  instance.register(async (shares) => {
    shares.removeAllContentTypeParsers();
    shares.addContentTypeParser(
      formType,
      { parseAs: 'string', bodyLimit: formBytesMax },
      (_request, body, done) => done(null, new URLSearchParams(String(body)).get('password') ?? ''),
    );
    shares.addHook('onRequest', (request, reply) => begin(deps, request, reply));
    shares.setErrorHandler((error, request, reply) => sendFailure(deps, error, request, reply));
    shares.get<SharePath>(path, (request, reply) => showShare(deps, request, reply, false));
    shares.get<SharePath>(`${path}/download`, (request, reply) => sendBytes(deps, request, reply));
    shares.post<SharePath>(`${path}/download`, (request, reply) => unlock(deps, request, reply));
  });
}

async function begin(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  request.routeId = request.routeOptions.url?.endsWith('/download') ? 'shares.download' : 'shares.page';
  reply.headers({
    'content-security-policy': sharePolicy,
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'x-frame-options': 'DENY',
  });
  await limitShares(deps, findAddress(deps, request), findAddresses(deps, request)[0]);
}

const sendPage = (reply: FastifyReply, status: number, page: string): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(page);

/** Relative, because a proxy may serve the service below another path. */
const fromPage = ({ params }: ShareRequest): string => `${encodeURIComponent(params.token)}/download`;
const fromDownload = 'download';

async function showShare(
  deps: Deps,
  request: ShareRequest,
  reply: FastifyReply,
  isWrong: boolean,
): Promise<FastifyReply> {
  const shared = await describeShare(deps, request.params.token);
  const isDownload = request.routeId === 'shares.download';
  const downloadPath = isDownload ? fromDownload : fromPage(request);
  return sendPage(reply, isDownload ? 403 : 200, renderShare({ ...shared, downloadPath, isWrong }));
}

async function sendBytes(deps: Deps, request: ShareRequest, reply: FastifyReply): Promise<unknown> {
  const call = new RequestCall(deps, request, reply);
  const pass = readCookie(request.headers.cookie, passCookie);
  const body = await downloadShare(deps, request.params.token, pass, call);
  return body ?? showShare(deps, request, reply, false);
}

/** See Other: what a browser downloads is a GET, which it can resume. */
async function unlock(deps: Deps, request: ShareRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { token } = request.params;
  const password = typeof request.body === 'string' ? request.body : '';
  const pass = await unlockShare(deps, token, password, new RequestCall(deps, request, reply));
  if (pass === null) return showShare(deps, request, reply, true);
  const below = `${publicPath(deps.settings)}/s/${encodeURIComponent(token)}`;
  const secure = ownOrigin(deps, request).url.startsWith('https:') ? '; Secure' : '';
  reply.header(
    'set-cookie',
    `${passCookie}=${pass}; Path=${below}; HttpOnly; SameSite=Strict; Max-Age=${passSeconds}${secure}`,
  );
  return reply.code(303).header('location', fromDownload).send();
}

function sendFailure(
  deps: Deps,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toPakhusError(thrown);
  if (error.status >= 500)
    deps.log.error({ err: error.cause ?? error, request_id: request.id }, error.message);
  reply.headers(error.headers);
  return sendPage(reply, error.status, pageOf(error));
}

function pageOf(error: PakhusError): string {
  if (error.status === 404) return nothingPage;
  if (error.status === 429) return renderMessage('Too many attempts', error.message);
  if (error.status >= 500) return renderMessage('Not available', 'Try again in a moment.');
  return renderMessage('This did not work', error.message);
}
