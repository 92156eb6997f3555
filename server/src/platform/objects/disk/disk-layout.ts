// Where objects lie on disk: private/<2 hex digits>/<key with + for />, public/<key> exactly as an operator's web
// server maps it, and tmp/ for unfinished files and parts. All three must be on one file system.
import { hash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { assertKey, isKey } from '../object-key.ts';
import type { Zone } from '../object-store.ts';
import { ignore } from './disk-errors.ts';
import { syncFolder } from './disk-files.ts';

/** Separates the key from the serial number in the name of a temporary file. Not allowed in keys. */
const tempMark = '~';

export class DiskLayout {
  readonly root: string;
  readonly tmp: string;
  readonly zones: Readonly<Record<Zone, string>>;
  readonly #run = randomBytes(6).toString('hex');
  #serial = 0;
  #layingOut: Promise<void> | undefined;

  constructor(root: string) {
    this.root = path.resolve(root);
    this.tmp = path.join(this.root, 'tmp');
    this.zones = { private: path.join(this.root, 'private'), public: path.join(this.root, 'public') };
  }

  pathFor(zone: Zone, key: string): string {
    assertKey(key);
    if (zone === 'public') return `${this.zones.public}/${key}`;
    return `${this.#shardPath(hash('sha256', key).slice(0, 2))}/${key.replaceAll('/', '+')}`;
  }

  /** Null for a file that is not an object. */
  keyAt(zone: Zone, file: string): string | null {
    const relative = path.relative(this.zones[zone], file).split(path.sep);
    const key = zone === 'public' ? relative.join('/') : relative.slice(1).join('/').replaceAll('+', '/');
    return isKey(key) ? key : null;
  }

  /** Holds the key: the sweep asks by key whether an old temporary file is still being written. */
  newTempPath(key: string): string {
    this.#serial += 1;
    return `${this.tmp}/${key.replaceAll('/', '+')}${tempMark}${this.#run}-${this.#serial.toString(36)}`;
  }

  tempPath(name: string): string {
    return `${this.tmp}/${name}`;
  }

  /** Whether this process made the temporary file: no other one writes to it. */
  isOwnTemp(name: string): boolean {
    return name.split(tempMark)[1]?.startsWith(`${this.#run}-`) ?? false;
  }

  /** Where the parts of an unfinished object lie. A folder, so that the sweep has one entry for all of them. */
  partsFolder(key: string): string {
    assertKey(key);
    return `${this.tmp}/${key.replaceAll('/', '+')}${tempMark}parts`;
  }

  keyOfTemp(name: string): string {
    const [key = ''] = name.split(tempMark);
    return key.replaceAll('+', '/');
  }

  /** Creates the folders, once per process: a root that vanishes later is an outage, not a new and empty store. */
  ready(): Promise<void> {
    this.#layingOut ??= this.#layOut().catch((error: unknown) => {
      this.#layingOut = undefined;
      throw error;
    });
    return this.#layingOut;
  }

  /** If the whole root is missing, as on an unmounted disk, a missing file is neither gone nor deleted. */
  async assertRootExists(): Promise<void> {
    await this.ready();
    await access(this.tmp);
  }

  get shards(): string[] {
    return Array.from({ length: 256 }, (_, at) => this.#shardPath(at.toString(16).padStart(2, '0')));
  }

  async assertUsable(): Promise<void> {
    await this.ready();
    const devices = new Set<number>();
    for (const folder of [this.tmp, this.zones.private, this.zones.public]) {
      await access(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
      devices.add((await fs.promises.stat(folder)).dev);
    }
    if (devices.size > 1) throw new Error('tmp, private and public are on different file systems');
  }

  #shardPath(shard: string): string {
    return `${this.zones.private}/${shard}`;
  }

  async #layOut(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o755 });
    await mkdir(this.zones.private, { mode: 0o700 }).catch(ignore('EEXIST'));
    await mkdir(this.zones.public, { mode: 0o755 }).catch(ignore('EEXIST'));
    await mkdir(this.tmp, { mode: 0o700 }).catch(ignore('EEXIST'));
    // All 256 shards now: creating a folder during a put would double the cost of that put.
    await Promise.all(this.shards.map((shard) => mkdir(shard, { mode: 0o700 }).catch(ignore('EEXIST'))));
    for (const folder of [this.zones.private, this.root, path.dirname(this.root)]) await syncFolder(folder);
  }
}
