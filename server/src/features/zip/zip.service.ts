// Answers a request for a zip. Few zips are open at once, because each keeps the list of its files in memory.
import type { Readable } from 'node:stream';
import type { TenantActor } from '../../contract/actor.ts';
import type { AuditStamp } from '../../contract/audit.ts';
import type { Call } from '../../contract/call.ts';
import type { Deps } from '../../contract/deps.ts';
import { PakhusError } from '../../kernel/error.ts';
import { isUuid } from '../../kernel/id.ts';
import { contentDisposition } from '../../kernel/media/media-type.ts';
import { type ByteSource, type Delivery, replyWithBytes } from '../content/content.reply.ts';
import { validateFolder } from '../files/files.meta.ts';
import { visibleSpace } from '../files/files.service.ts';
import { countWanted, findZip, tooManyFiles, type ZipRequest } from './zip.find.ts';
import { openZip } from './zip.read.ts';
import { filesMax, type Wanted } from './zip.sql.ts';

interface ZipQuery {
  readonly folder?: string;
  readonly ids?: readonly string[];
  readonly space_id?: string;
}

const contentType = 'application/zip';

export async function readZip(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  query: ZipQuery,
  call: Call,
  audit: AuditStamp,
): Promise<Readable> {
  const wanted = parseWanted(query);
  const request: ZipRequest = { actor, userId, space: visibleSpace(actor, query.space_id), wanted };
  const files = 'ids' in wanted ? wanted.ids.length : await countWanted(deps, request);
  if (files === 0) throw new PakhusError('NOT_FOUND', 'This folder has no files');
  const release = await deps.zips.acquire(actor.projectId, undefined, memoryUnits(files));
  try {
    const delivery = new ZipDelivery(deps, request, call, audit);
    const body = await replyWithBytes(call, delivery);
    if (delivery.isOpen) body.once('close', release);
    else release();
    return body;
  } catch (error) {
    release();
    throw error;
  }
}

/** About half a mebibyte each: for what is read ahead, and for the list of files. */
const memoryUnits = (files: number): number => 4 + Math.ceil(files / 1_000);

class ZipDelivery implements Delivery {
  readonly embeddedBy = 'same-origin';
  readonly #deps: Deps;
  readonly #request: ZipRequest;
  readonly #call: Call;
  readonly #audit: AuditStamp;
  #files = 0;
  /** Some of the zip is being sent. */
  isOpen = false;

  constructor(deps: Deps, request: ZipRequest, call: Call, audit: AuditStamp) {
    this.#deps = deps;
    this.#request = request;
    this.#call = call;
    this.#audit = audit;
  }

  find = async (): Promise<ByteSource> => {
    const zip = await findZip(this.#deps, this.#request);
    this.#files = zip.files.length;
    return {
      bytes: zip.layout.bytes,
      etag: zip.etag,
      modifiedAt: zip.modifiedAt,
      contentType,
      contentDisposition: contentDisposition(`${this.#name()}.zip`, contentType),
      sha256: null,
      open: async (range, signal) => {
        this.isOpen = true;
        return openZip(this.#deps, zip, range, signal);
      },
    };
  };

  beforeBytes = (): undefined => {
    const { userId, wanted } = this.#request;
    const metadata = { files: this.#files, ...('folder' in wanted ? { folder: wanted.folder } : {}) };
    this.#deps.auditQueue.add(this.#audit, { resourceType: 'file', userId, metadata });
    this.#call.countDownload();
  };

  #name(): string {
    const { wanted } = this.#request;
    return ('folder' in wanted && wanted.folder.split('/').at(-1)) || 'files';
  }
}

function parseWanted({ folder, ids }: ZipQuery): Wanted {
  if ((folder === undefined) === (ids === undefined))
    throw badQuery('query', 'must have either folder or ids', 'required');
  if (folder !== undefined) return { folder: validateFolder(folder, 400) };
  const given = (ids ?? []).flatMap((list) => list.split(',')).map((id) => id.trim().toLowerCase());
  const chosen = [...new Set(given.filter((id) => id !== ''))];
  if (chosen.length === 0) throw badQuery('ids', 'must name at least one file', 'minItems');
  const odd = chosen.find((id) => !isUuid(id));
  if (odd !== undefined) throw badQuery('ids', 'must be ids of files', 'format');
  if (chosen.length > filesMax) throw tooManyFiles();
  return { ids: chosen };
}

const badQuery = (path: string, message: string, code: string) =>
  new PakhusError('VALIDATION_ERROR', `${path} ${message}`, {
    status: 400,
    details: { issues: [{ path, message, code }] },
  });
