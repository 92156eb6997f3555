// Two processes on one database. One of them is killed again and again and replaced, while clients go on with the other.
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Api, apiOf } from './api.ts';
import { inTransaction, isSomebodyWaiting, rowsOf } from './database.ts';
import { type PakhusProcess, startProcess } from './process.ts';
import { until } from './processes.ts';

export interface Instance {
  readonly api: Api;
  readonly origin: string;
  /** It is being killed: requests to it may break. */
  isDoomed: boolean;
  /** Resolves when it was killed and the database has ended everything that it had begun. */
  readonly ended: Promise<void>;
  /** Resolves when the database has ended everything that it had begun until now. */
  calm(): Promise<void>;
}

class Place implements Instance {
  readonly api: Api;
  readonly origin: string;
  readonly name: string;
  readonly process: PakhusProcess;
  readonly #databaseUrl: string;
  isDoomed = false;
  readonly ended: Promise<void>;
  end: () => void = () => undefined;

  constructor(name: string, process: PakhusProcess, databaseUrl: string) {
    this.name = name;
    this.process = process;
    this.#databaseUrl = databaseUrl;
    this.api = apiOf(process.baseUrl);
    this.origin = new URL(process.baseUrl).origin;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  async calm(): Promise<void> {
    const [{ now } = { now: '' }] = await rowsOf<{ now: string }>(
      this.#databaseUrl,
      'select now()::text as now',
    );
    await this.untilNone(`state <> 'idle' and xact_start < '${now}'`);
  }

  /** Until it has no such connection. A statement whose client is gone is still run to its end, and may commit. */
  async untilNone(condition: string): Promise<void> {
    await until('its statements have ended', async () => {
      const left = await rowsOf(
        this.#databaseUrl,
        `select from pg_stat_activity
         where datname = current_database() and application_name = '${this.name}' and ${condition}`,
      );
      return left.length === 0;
    });
  }
}

/** What a transaction can be stopped at: whoever is about to write there waits. */
const gates = ['files', 'trashed_files', 'objects', 'shares', 'users', 'audit_logs', 'variant_images'];

export class Instances {
  readonly #environment: Record<string, string>;
  readonly #databaseUrl: string;
  readonly #places: Place[] = [];
  #started = 0;
  /** Resolves when both run. Starting one takes long while the other is busy. */
  complete: Promise<void> = Promise.resolve();

  constructor(environment: Record<string, string>, databaseUrl: string) {
    this.#environment = environment;
    this.#databaseUrl = databaseUrl;
  }

  async start(): Promise<void> {
    this.#places.push(...(await Promise.all([this.#startOne(), this.#startOne()])));
  }

  /** Its connections have its name, so that it can be told when the last of them has ended. */
  async #startOne(): Promise<Place> {
    this.#started += 1;
    const name = `pakhus-${this.#started}`;
    const separator = this.#databaseUrl.includes('?') ? '&' : '?';
    const url = `${this.#databaseUrl}${separator}application_name=${name}`;
    const process = await startProcess({ ...this.#environment, DATABASE_URL: url });
    return new Place(name, process, this.#databaseUrl);
  }

  /** One that is not being killed. There always is one. */
  pick(): Instance {
    const alive = this.#places.filter(({ isDoomed }) => !isDoomed);
    return alive[randomInt(alive.length)] as Instance;
  }

  /** At a random moment, or in the middle of transactions that want to write to some table. */
  async killOne(): Promise<void> {
    const at = randomInt(this.#places.length);
    const victim = this.#places[at] as Place;
    if (randomInt(2)) {
      await pause(randomInt(40));
      await kill(victim);
    } else await this.#killAtGate(victim);
    const replacing = this.#replace(at, victim);
    this.complete = replacing;
    await replacing;
  }

  async #replace(at: number, victim: Place): Promise<void> {
    await victim.untilNone('true');
    victim.end();
    this.#places[at] = await this.#startOne();
  }

  async #killAtGate(victim: Place): Promise<void> {
    await inTransaction(this.#databaseUrl, async (query) => {
      await query(`lock table ${gates[randomInt(gates.length)]} in exclusive mode`);
      for (let wait = 0; wait < 20 && !(await isSomebodyWaiting(this.#databaseUrl)); wait += 1)
        await pause(10);
      await pause(randomInt(30));
      await kill(victim);
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#places.splice(0).map(({ process }) => process.stop()));
  }
}

async function kill(victim: Place): Promise<void> {
  victim.isDoomed = true;
  await victim.process.kill();
}
