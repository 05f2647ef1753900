import { join } from 'node:path';
import { type ChannelsAsk, relay } from '../../../support/channels-client.ts';
import { type ChannelsScene, manage, startChannels, type Transfer } from '../../../support/channels-scene.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { seededRandom } from '../../../support/seeded.ts';
import { Cluster } from '../payments/cluster.ts';
import { eachOf } from '../payments/each-of.ts';
import type { Database } from '../payments/world.ts';
import { describeCounts, type Line } from '../report.ts';

export interface ChannelsSoakOptions {
  /** Transfers that are requested at the same time. */
  transactions: number;
  channels: number;
  /** Servers that are killed meanwhile. */
  kills: number;
  database: Database;
  seed: number;
  say(text: string): void;
}

export interface ChannelsSoakResult {
  lines: readonly Line[];
  /** The faults found, one sentence each; empty if there were none. */
  faults: string[];
  output: string;
}

const LEDGER_MS = 1_000;
/** Matches how the network and the service report a sequence that another transaction has used. */
const BAD_SEQUENCE = /bad_?seq|sequence \d+ .*was used/i;
const SHOWN_FAULTS = 20;

/**
 * Calls the published channels plugin many times at once, and kills servers meanwhile. Each transfer must happen once,
 * and no answer may mention a sequence.
 */
export async function soakChannels(options: ChannelsSoakOptions): Promise<ChannelsSoakResult> {
  const { channels, database } = options;
  const instances = database === 'postgres' ? 2 : 1;
  const scene = await startChannels({
    channels,
    ledgerMs: LEDGER_MS,
    concurrency: Math.max(1, Math.floor(channels / instances)),
    env: {
      HOST: '127.0.0.1',
      API_KEY: 'one-key-for-every-instance-of-the-soak',
      STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
      RATE_LIMIT_BURST_SIZE: '1000000',
    },
  });
  const postgres = database === 'postgres' ? await startPostgres({ durable: true }) : null;
  const shared = {
    ...scene.workspace.env,
    ...(postgres === null ? {} : { DATABASE_URL: await postgres.createDatabase() }),
  };
  const cluster = new Cluster({
    instances,
    postgres,
    environmentOf: (instance) => ({ ...shared, DATA_DIR: join(scene.workspace.dir, `data-${instance}`) }),
  });
  try {
    return await run(options, scene, cluster);
  } finally {
    await cluster.close();
    await postgres?.stop();
    await scene.stop();
  }
}

async function run(
  { transactions, channels, kills, database, seed, say }: ChannelsSoakOptions,
  scene: ChannelsScene,
  cluster: Cluster,
): Promise<ChannelsSoakResult> {
  await cluster.startMissing();
  const [words] = cluster.deaths.byThemselves;
  if (words !== undefined) throw new Error(`a server did not start: ${words}`);
  const service = () => cluster.pick();
  await ask(service, manage('setChannelAccounts', { relayerIds: scene.channelIds }));
  await untilAllServe(cluster);
  const transfers = await eachOf(Array.from({ length: transactions }), () => scene.transfer());
  say('all are asked for now');

  const answers = new Map<string, number>();
  const faults: string[] = [];
  const began = performance.now();
  const paid = new Counter();
  const heard = (answer: string, told: unknown) => {
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    const text = JSON.stringify(told);
    if (BAD_SEQUENCE.test(text)) faults.push(`a caller heard of a sequence: ${text}`);
  };
  const send = async (transfer: Transfer) => {
    const { params } = transfer;
    const answer = await relay({ params, heard, service, isDone: () => scene.isPaid(transfer) });
    if (answer.data?.status !== 'confirmed') faults.push(`not paid: ${JSON.stringify(answer)}`);
    paid.add();
    if (paid.count % 50 === 0) say(`${paid.count} of ${transactions} have their answer`);
  };
  const killing = killOnTheWay(cluster, { paid, kills, transactions, random: seededRandom(seed, 'kills'), say });
  await Promise.all([...transfers.map(send), killing]);
  const seconds = (performance.now() - began) / 1_000;

  const wrong = await eachOf(transfers, (transfer) => scene.wrongIn(transfer));
  faults.push(...wrong.filter((one) => one !== null));
  const landed = (await scene.scene.net.landed()).filter(({ feeSource }) => feeSource === scene.fund);
  const failed = landed.filter(({ isSuccessful }) => !isSuccessful);
  const { atRandom, byThemselves } = cluster.deaths;
  faults.push(...byThemselves.map((words) => `a process ended by itself: ${words}`));
  if (atRandom < kills) faults.push(`only ${atRandom} servers were killed`);
  if (kills > 0 && !answers.has('lost')) faults.push('no server was killed under a caller');
  return {
    lines: [
      ['transactions', `${transactions} at once, over ${channels} channels`],
      ['database', database],
      ['seed', seed],
      ['kills', atRandom],
      ['channels used', new Set(landed.map(({ source }) => source)).size],
      ['answers', describeCounts(answers)],
      ['landed', `${landed.length}, of which ${failed.length} failed`],
      ['seconds', seconds.toFixed(0)],
      ['a second', (transactions / seconds).toFixed(1)],
    ],
    faults: faults.slice(0, SHOWN_FAULTS),
    output: cluster.output,
  };
}

/** Counts answers. Others can wait for a number of them. */
class Counter {
  count = 0;
  #waiting: { least: number; resolve: () => void }[] = [];

  add(): void {
    this.count += 1;
    for (const { least, resolve } of this.#waiting) if (this.count >= least) resolve();
  }

  reaches(least: number): Promise<void> {
    if (this.count >= least) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ least, resolve }));
  }
}

interface Killing {
  paid: Counter;
  kills: number;
  transactions: number;
  random: () => number;
  say(text: string): void;
}

/** Kills servers at evenly spaced numbers of answers, and restarts each. */
async function killOnTheWay(cluster: Cluster, { paid, kills, transactions, random, say }: Killing): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    await paid.reaches(Math.floor((transactions * kill) / (kills + 2)));
    await cluster.killOne(random());
    await cluster.startMissing();
    // On a busy machine a plugin may not be compiled in time. Other instances serve meanwhile.
    await untilAllServe(cluster).catch((error: Error) => say(error.message));
  }
}

/** Resolves when the plugin answers on each running instance. */
async function untilAllServe(cluster: Cluster): Promise<void> {
  for (const service of cluster.running) await ask(async () => service, manage('stats'));
}

async function ask(service: ChannelsAsk['service'], params: object): Promise<void> {
  const { success, ...told } = await relay({ params, service, isDone: async () => false });
  if (success !== true) throw new Error(`the plugin does not serve: ${JSON.stringify(told)}`);
}
