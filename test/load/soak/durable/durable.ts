import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PluginVersion } from '../../../../sandbox/contract.ts';
import { compilePlugins } from '../../../../src/cli/check-config.ts';
import { LocalCalls, replayCall } from '../../../../src/cli/plugin/replay.ts';
import { readPluginConfiguration } from '../../../../src/cli/settings.ts';
import { replayRecordSchema } from '../../../../src/features/calls/replay-record.ts';
import { type Anvil, startAnvil } from '../../../support/anvil.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { descendantsOf } from '../../../support/processes.ts';
import { seededRandom } from '../../../support/seeded.ts';
import type { AnswerBody, RunningService } from '../../../support/service.ts';
import { createWorkspace, type Workspace } from '../../../support/workspace.ts';
import { Cluster } from '../payments/cluster.ts';
import { describeCounts, type Line } from '../report.ts';
import {
  AMOUNT,
  type Answer,
  EVENT,
  HANDLER,
  KILLS_FILE,
  PLUGIN,
  type Plan,
  type PlannedKill,
  paymentsOf,
  RECEIVER,
} from './plan.ts';

export interface DurableSoakOptions {
  database: 'sqlite' | 'postgres';
  instances: number;
  calls: number;
  /** `entry`: something dies at each entry into the guest of each call; `random`: at any time. */
  kills: 'entry' | 'random';
  seed: number;
  /** How long the calls may take after the last was begun. */
  patienceMs: number;
  say(text: string): void;
}

export interface DurableSoakResult {
  lines: readonly Line[];
  /** The faults found, one sentence each; empty if there were none. */
  faults: string[];
  output: string;
}

/** How many calls are open at a time. */
const WIDTH = { entry: 20, random: 40 } as const;
const RELAYERS = 3;
/** Longer than a run has its call without renewal. So the call is run elsewhere when its first run goes on. */
const FROZEN_MS = 12_000;
const KEEP_UP_MS = 200;
/** The time between two kills at random. */
const LIFE_MS = [300, 3_500] as const;
/** Every so many lives, one is longer, so that runs also end because their calls only wait. */
const LONG_LIFE = 12;
const LONG_LIFE_MS = 20_000;
const LOOK_MS = 500;
const WAIT_S = 20;
/** Every so many calls, one gets its event only when it waits for it and its run has ended. */
const LATE = { entry: 2, random: 8 } as const;
/** How long it may take until that. A run lasts that long only if nothing dies. */
const LATE_MS = { entry: Number.POSITIVE_INFINITY, random: 25_000 } as const;
const BLOCKS_AT_ONCE = 50;
const READ_AT_ONCE = 100;

/** A call as the harness followed it. */
interface Followed {
  name: string;
  id: string;
  view: AnswerBody;
}

/**
 * Runs durable calls while services and the processes of their plugins are killed. Each call must end with the answer
 * of a twin that was left alone, and each of its effects must have happened once: the chain is the judge.
 */
export async function soakDurable(options: DurableSoakOptions): Promise<DurableSoakResult> {
  const { database, instances } = options;
  const opened: (() => Promise<unknown>)[] = [];
  try {
    const anvil = await startAnvil({ blockTime: 0.2 });
    opened.push(() => anvil.stop());
    const workspace = await workspaceFor(anvil);
    opened.push(() => workspace.remove());
    const postgres = database === 'postgres' ? await startPostgres({ durable: true }) : null;
    if (postgres !== null) opened.push(() => postgres.stop());
    const plans = join(workspace.dir, 'plans');
    await mkdir(plans);
    const shared = {
      ...workspace.env,
      ...(postgres === null ? {} : { DATABASE_URL: await postgres.createDatabase() }),
      ...(options.kills === 'entry' ? { SOAK_PLANS: plans } : {}),
    };
    const cluster = new Cluster({
      instances,
      postgres,
      environmentOf: (instance) => ({ ...shared, DATA_DIR: join(workspace.dir, `data-${instance}`) }),
      ...(options.kills === 'entry' ? { entry: 'test/load/soak/durable/server.ts' } : {}),
    });
    opened.push(() => cluster.close());
    return await new DurableSoak(options, cluster, anvil, workspace, plans).run();
  } finally {
    for (const close of opened.toReversed()) await close();
  }
}

async function workspaceFor(anvil: Anvil): Promise<Workspace> {
  const limits = { slice_ms: 2_000, cpu_ms: 20_000, process_mb: 2_048, lifetime: '1d' };
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    accounts: RELAYERS,
    pluginFiles: { [`${PLUGIN}.ts`]: HANDLER },
    plugins: [{ id: PLUGIN, path: `${PLUGIN}.ts`, durable: true, timeout: 120, limits }],
    env: {
      HOST: '127.0.0.1',
      API_KEY: 'one-key-for-every-instance-of-the-soak',
      STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
      RATE_LIMIT_BURST_SIZE: '1000000',
      LOG_LEVEL: 'info',
    },
  });
  workspace.env['NODE_COMPILE_CACHE'] = process.env['NODE_COMPILE_CACHE'] ?? join(workspace.dir, 'compiled');
  const funds = `0x${(10n ** 22n).toString(16)}`;
  for (const address of workspace.addresses) await anvil.rpc('anvil_setBalance', [address, funds]);
  return workspace;
}

class DurableSoak {
  readonly #options: DurableSoakOptions;
  readonly #cluster: Cluster;
  readonly #anvil: Anvil;
  readonly #workspace: Workspace;
  readonly #plans: string;
  readonly #faults: string[] = [];
  #childKills = 0;
  #late = 0;
  #frozen = 0;
  #isOver = false;

  constructor(options: DurableSoakOptions, cluster: Cluster, anvil: Anvil, workspace: Workspace, plans: string) {
    this.#options = options;
    this.#cluster = cluster;
    this.#anvil = anvil;
    this.#workspace = workspace;
    this.#plans = plans;
  }

  async run(): Promise<DurableSoakResult> {
    const began = performance.now();
    const { calls, kills, database, instances, seed } = this.#options;
    await this.#cluster.startMissing();
    const twin = await this.#carry('twin', 0, false);
    const names = Array.from({ length: calls }, (_, index) => `call-${index}`);
    if (kills === 'entry') await this.#plan(names);
    const killing = this.#kill();
    const followed = await this.#carryAll(names);
    this.#isOver = true;
    await killing;
    await this.#cluster.startMissing();

    const planned = await this.#plannedKills();
    const judged = await this.#judge(twin, followed, planned);
    const { atRandom, atStep, byThemselves } = this.#cluster.deaths;
    this.#faults.push(...byThemselves.map((words) => `a process ended by itself: ${words}`));
    if (atRandom + atStep.size + this.#childKills === 0) this.#faults.push('nothing was killed');
    const services = atRandom + [...atStep.values()].reduce((sum, count) => sum + count, 0);
    return {
      lines: [
        ['database', `${database}, ${instances} at a time`],
        ['seed', seed],
        ['calls', calls],
        ['events after a suspension', this.#late],
        ['services killed', services],
        ...(kills === 'random' ? ([['processes of plugins killed', this.#childKills]] as Line[]) : []),
        ...(instances > 1 && kills === 'random' ? ([['services frozen', this.#frozen]] as Line[]) : []),
        ...(kills === 'entry' ? plannedLines(planned) : []),
        ...judged,
        ['seconds', ((performance.now() - began) / 1_000).toFixed(0)],
      ],
      faults: this.#faults,
      output: this.#cluster.output,
    };
  }

  async #plan(names: readonly string[]): Promise<void> {
    for (const [salt, name] of names.entries()) {
      const plan: Plan = { next: 1, salt: salt + this.#options.seed, isSuspensionDone: false, isEndDone: false };
      await writeFile(join(this.#plans, `${name}.json`), JSON.stringify(plan));
    }
  }

  /** Starts again what died, and kills at random if nothing is planned. */
  async #kill(): Promise<void> {
    const { kills, seed, instances } = this.#options;
    const random = seededRandom(seed, 'kills');
    const freezes: Promise<void>[] = [];
    let lives = 0;
    const next = () => {
      const isLong = lives % LONG_LIFE === LONG_LIFE - 1;
      return performance.now() + (isLong ? LONG_LIFE_MS : LIFE_MS[0] + random() * (LIFE_MS[1] - LIFE_MS[0]));
    };
    let killAt = next();
    while (!this.#isOver) {
      await sleep(KEEP_UP_MS);
      if (kills === 'random' && performance.now() > killAt) {
        lives += 1;
        if (instances > 1 && lives % 4 === 0) freezes.push(this.#cluster.freezeOne(random(), FROZEN_MS));
        else if (lives % 2 === 0) await this.#cluster.killOne(random());
        else await this.#killChild(random());
        await this.#cluster.startMissing();
        // A life begins when the service is ready, however slow the machine is.
        killAt = next();
      }
      await this.#cluster.startMissing();
    }
    await Promise.all(freezes);
    this.#frozen = freezes.length;
  }

  async #killChild(unit: number): Promise<void> {
    const { running } = this.#cluster;
    const service = running[Math.floor(unit * running.length)];
    if (service === undefined) return;
    for (const { pid } of await descendantsOf(service.pid)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    this.#childKills += 1;
  }

  async #carryAll(names: readonly string[]): Promise<Followed[]> {
    const { kills, say } = this.#options;
    const followed: Followed[] = [];
    const left = [...names.entries()];
    const worker = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [index, name] = next;
        followed.push(await this.#carry(name, index, index % LATE[kills] === 0));
        if (followed.length % 20 === 0) say(`${followed.length} of ${names.length} calls have ended`);
      }
    };
    await Promise.all(Array.from({ length: WIDTH[kills] }, worker));
    return followed;
  }

  /** Behaves as a client of one call: begins it, sends its event, and waits for its end, through all deaths. */
  async #carry(name: string, index: number, isLate: boolean): Promise<Followed> {
    const until = performance.now() + this.#options.patienceMs;
    const params = { name, relayerId: `local-${1 + (index % RELAYERS)}` };
    const begin = { params };
    const id = await this.#until(until, async () => {
      const { body } = await this.#ask('POST', '/call', begin, { 'idempotency-key': name, prefer: 'respond-async' });
      return body.data?.id as string | undefined;
    });
    if (id === undefined) return { name, id: '', view: undefined };
    const view = async () => (await this.#ask('GET', `/calls/${id}`)).body.data;
    const isWaiting = isLate
      ? await this.#until(Math.min(until, performance.now() + LATE_MS[this.#options.kills]), async () => {
          const { state, waits_for: waits } = await view();
          await sleep(LOOK_MS);
          return state === 'waiting' && waits.some(({ kind }: { kind: string }) => kind === 'event') ? true : undefined;
        })
      : undefined;
    if (isWaiting === true) this.#late += 1;
    await this.#until(until, async () => {
      const { status } = await this.#ask('POST', `/calls/${id}/events/${EVENT.name}`, { value: EVENT.value });
      // One that has ended takes none.
      return status === 200 || status === 400 ? true : undefined;
    });
    const ended = await this.#until(until, async () => {
      const wait = { 'idempotency-key': name, prefer: `wait=${WAIT_S}` };
      await this.#ask('POST', '/call', begin, wait);
      // An answer of 503 says nothing about the call.
      const seen = await view();
      return seen?.ended_at == null ? undefined : seen;
    });
    return { name, id, view: ended };
  }

  /** Asks again until there is an answer. Undefined: the time was over. */
  async #until<T>(until: number, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    while (performance.now() < until) {
      const answer = await ask().catch(() => undefined);
      if (answer !== undefined) return answer;
      await sleep(LOOK_MS / 5);
    }
    return undefined;
  }

  async #ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const service = await this.#cluster.pick();
    const response = await fetch(`${service.url}/api/v1/plugins/${PLUGIN}${path}`, {
      method,
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as AnswerBody };
  }

  async #plannedKills(): Promise<PlannedKill[]> {
    const text = await readFile(join(this.#plans, KILLS_FILE), 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as PlannedKill]));
  }

  /** Compares answers, the chain, the store and replays. */
  async #judge(twin: Followed, followed: readonly Followed[], planned: readonly PlannedKill[]): Promise<Line[]> {
    const counts = { returned: 0, lost: 0, unpaid: 0, doubled: 0, 'differing answers': 0, 'wrong in the store': 0 };
    const note = (kind: keyof typeof counts, text: string) => {
      counts[kind] += 1;
      this.#faults.push(`${kind}: ${text}`);
    };
    const own = twin.view?.answer as Answer | undefined;
    if (own === undefined) throw new Error(`the twin did not return: ${JSON.stringify(twin)}`);
    const fixed = JSON.stringify(own.fixed);
    const service = await this.#cluster.pick();
    const onChain = await this.#paymentsOnChain();
    const listed = await this.#listed(service);
    const values = await this.#values(followed.map(({ name }) => name));
    let tries = 0;
    let payments = 4;
    for (const { name, view } of followed) {
      tries += view?.tries ?? 0;
      const answer = view?.answer as Answer | null | undefined;
      if (view?.state !== 'returned' || !answer) {
        note('lost', `${name}: ${JSON.stringify(view)}`);
        continue;
      }
      counts.returned += 1;
      if (JSON.stringify(answer.fixed) !== fixed) note('differing answers', `${name}: ${JSON.stringify(answer.fixed)}`);
      const due = paymentsOf(name, answer.heard);
      payments += due.length;
      const paid = onChain.get(name) ?? [];
      for (const content of due) {
        const times = paid.filter((one) => one.content === content).length;
        if (times === 0) note('unpaid', `${name}: ${content}; on chain ${JSON.stringify(paid)}`);
        if (times > 1) note('doubled', `${name}: ${times} times ${content}`);
      }
      for (const { content } of paid)
        if (!due.includes(content)) note('doubled', `${name}: nobody heard of ${content}`);
      if (!paid.some(({ hash, content }) => hash === answer.heard.hash && content === due[2])) {
        note('differing answers', `${name}: hash ${answer.heard.hash} of ${JSON.stringify(paid)}`);
      }
      const ids = listed.get(name) ?? [];
      if (ids.toSorted().join() !== answer.ids.toSorted().join()) {
        note('wrong in the store', `${name}: transactions ${ids.join()} and not ${answer.ids.join()}`);
      }
      const value = values.get(name);
      if (value?.count !== 1 || value.done !== answer.heard.done) {
        note('wrong in the store', `${name}: ${JSON.stringify(value)}, heard ${answer.heard.done}`);
      }
    }
    const got = BigInt(String(await this.#anvil.rpc('eth_getBalance', [RECEIVER, 'latest'])));
    if (counts.lost === 0 && got !== AMOUNT * BigInt(payments)) {
      note('doubled', `the receiver has ${got}, of ${payments} payments of ${AMOUNT}`);
    }
    const replays = await this.#replay(followed, planned);
    const { transactions, deliveries } = replays;
    return [
      ...Object.entries(counts),
      ['runs', tries],
      ['answers in the journals', deliveries],
      ['payments', payments],
      ['replays', transactions],
      ['replays with differences', replays.differing],
    ];
  }

  /** Runs each call again from its record. */
  async #replay(followed: readonly Followed[], planned: readonly PlannedKill[]) {
    const version = await this.#version();
    const calls = await LocalCalls.open();
    const killed = Map.groupBy(planned, ({ name }) => name);
    const figures = { transactions: 0, deliveries: 0, differing: 0 };
    try {
      for (const { name, id, view } of followed) {
        if (view === undefined) continue;
        const { body } = await this.#ask('GET', `/calls/${id}/record`);
        const record = replayRecordSchema.parse(body.data);
        figures.transactions += 1;
        figures.deliveries += record.deliveries.length;
        const { differences } = await replayCall(calls, record, version);
        if (differences.length > 0) {
          figures.differing += 1;
          this.#faults.push(`replays differently: ${name}: ${JSON.stringify(differences).slice(0, 2_000)}`);
        }
        if (this.#options.kills === 'random') continue;
        const kills = (killed.get(name) ?? []).filter(({ at }) => at !== 'suspension');
        const entries = new Set(kills.map(({ entry, at }) => (at === 'end' ? at : entry)));
        // The start, each answer, and the end.
        const wanted = record.deliveries.length + 2;
        if (entries.size < wanted) {
          this.#faults.push(`${name} was killed at ${entries.size} of ${wanted} places: ${[...entries].join()}`);
        }
      }
    } finally {
      await calls.close();
    }
    return figures;
  }

  async #version(): Promise<PluginVersion> {
    const { env, dir } = this.#workspace;
    const settings = await readPluginConfiguration({ env: { ...env, DATA_DIR: join(dir, 'data-0') }, cwd: dir });
    const [plugin] = await compilePlugins(dir, settings);
    if (plugin?.serving === undefined) throw new Error(`the plugin was not built: ${plugin?.failure?.message}`);
    return plugin.serving.version;
  }

  /** The payments that blocks have, by the call that made them. */
  async #paymentsOnChain(): Promise<Map<string, { content: string; hash: string }[]>> {
    const last = Number(await this.#anvil.rpc('eth_blockNumber'));
    const found: { name: string; content: string; hash: string }[] = [];
    for (let first = 0; first <= last; first += BLOCKS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, last - first + 1) }, (_, at) => first + at);
      const blocks = await Promise.all(
        numbers.map((at) => this.#anvil.rpc('eth_getBlockByNumber', [`0x${at.toString(16)}`, true])),
      );
      for (const { transactions } of blocks as { transactions: { input: string; hash: string; to: string }[] }[]) {
        for (const { input, hash, to } of transactions) {
          if (to !== RECEIVER) continue;
          const content = textOf(input);
          found.push({ content, hash, name: (JSON.parse(content) as { name: string }).name });
        }
      }
    }
    return Map.groupBy(found, ({ name }) => name);
  }

  /** The ids of the transactions that the service lists, by the call that made them. */
  async #listed(service: RunningService): Promise<Map<string, string[]>> {
    const ids = new Map<string, string[]>();
    for (let relayer = 1; relayer <= RELAYERS; relayer += 1) {
      for (let page = 1, left = true; left; page += 1) {
        const path = `/api/v1/relayers/local-${relayer}/transactions?per_page=100&page=${page}`;
        const { data, pagination } = (await service.request('GET', path)).body;
        for (const { id, data: input } of data as { id: string; data: string }[]) {
          const { name } = JSON.parse(textOf(input)) as { name: string };
          ids.set(name, [...(ids.get(name) ?? []), id]);
        }
        left = page * 100 < pagination.total_items;
      }
    }
    return ids;
  }

  /** What the plugin's values are, by the calls that set them. */
  async #values(names: readonly string[]): Promise<Map<string, { count: number | null; done: number | null }>> {
    const values = new Map<string, { count: number | null; done: number | null }>();
    for (let first = 0; first < names.length; first += READ_AT_ONCE) {
      const read = names.slice(first, first + READ_AT_ONCE);
      const { status, body } = await this.#ask('POST', '/call', { params: { read } });
      if (status !== 200) throw new Error(`the values cannot be read: ${status} ${JSON.stringify(body)}`);
      for (const [at, name] of read.entries()) values.set(name, body.data[at]);
    }
    return values;
  }
}

function textOf(hex: string): string {
  return Buffer.from(hex.slice(2), 'hex').toString();
}

function plannedLines(planned: readonly PlannedKill[]): Line[] {
  const by = (of: (kill: PlannedKill) => string) =>
    describeCounts(new Map([...Map.groupBy(planned, of)].map(([name, kills]) => [name, kills.length])));
  return [
    ['runs killed at an entry', planned.length],
    ['of whom', by(({ victim }) => victim)],
    ['when', by(({ phase }) => phase)],
    ['where', by(({ at }) => at)],
  ];
}
