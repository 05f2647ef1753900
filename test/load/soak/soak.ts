/**
 * `npm run soak -- kill` and `npm run soak -- faults`: many transactions through the real server to a local chain,
 * while processes are killed or endpoints are faulty. At the end each accepted transaction is checked on the chain.
 * `npm run soak -- calls`: plugin calls of every kind, and the server's memory after them.
 * `npm run soak -- triggers`: triggers of three servers that are killed, on a database that crashes.
 * `npm run soak -- channels`: many callers of the published channels plugin at once, while servers are killed.
 * `npm run soak -- durable`: durable calls while something dies at each entry into the guest, or at any time.
 * `npm run soak -- properties`: the property tests, with another seed and many more runs.
 * `npm run soak -- model`: random histories of the engine in the model's worlds.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { number, say, UsageError } from '../arguments.ts';
import { soakCalls } from './calls/calls.ts';
import { soakChannels } from './channels/channels.ts';
import { soakDurable } from './durable/durable.ts';
import { soakModel } from './model/model.ts';
import type { SoakChain } from './payments/chain.ts';
import { evmChain } from './payments/evm/chain.ts';
import { BLOCKS } from './payments/evm/fault-schedule.ts';
import { FAULT_MODES, type FaultMode, soakFaults } from './payments/faults.ts';
import { soakKills } from './payments/kill.ts';
import { soakRestores } from './payments/restores.ts';
import type { SoakOptions, SoakResult } from './payments/run.ts';
import { solanaChain } from './payments/solana/chain.ts';
import { stellarChain } from './payments/stellar/chain.ts';
import { isKept } from './payments/verdict.ts';
import { soakProperties } from './properties.ts';
import { describeLines, describeRun } from './report.ts';
import { soakTriggers } from './triggers/triggers.ts';

const USAGE = `npm run soak -- kill|faults|channels|durable|calls|triggers|model|properties [options]
  --transactions <number>       default 1000; channels: 200
  --database <kind>             sqlite (default), postgres (two instances at a time), lazy-postgres (the same, with
                                synchronous_commit = off; not for channels)
  --chain evm|solana|stellar    default evm
  --blocks interval|automine    evm: default interval, one a second; those of others come by themselves
  --seed <number>               default: another one each time; that of a failure draws the same again
  --calm                        nobody else has the keys, nothing is taken back, fees stay, nobody changes his mind
  --patience <seconds>          how long the last may take to end, default 180; triggers: 1200; durable: 900 each
  --kills <number>              kill: at the most; default one for each 15 transactions; channels: default 2
  --kills entry|random          durable: at each entry into the guest of each call (default), or at any time
  --instances <number>          durable: servers at a time, default 1; more need postgres
  --restores <number>           kill: only this: the data folder of the embedded database is put back so often to a
                                copy that was made while the server was at work, and nobody else sends
  --channels <number>           channels: accounts whose sequences are used, default 10
  --mode <mode>                 faults: trouble, lag, pruned, lies or all; default all, one after the other
  --log <file>                  where to write what the server's processes wrote
  --rate <0 to 1>               faults: how likely each is for a request, default 0.02
  --calls <number>              calls: default 100000; durable: default 20
  --concurrency <number>        calls: how many at a time, default 64
  --triggers <number>           triggers: how many fire each second, default 100
  --seconds <number>            triggers: for how long servers are killed, default 100
  --events <number>             triggers: events of transactions, default 50000
  --times <number>              properties: how many times as many runs as in npm test, default 20
  --only <part of a path>       properties: only the test files whose path has it in it
  --histories <number>          model: in each world, default 1000`;

/** The least time for ten requests of `faults`. A thousand requests take four minutes, each phase over 20 seconds. */
const PAUSE_MS = 2_500;

type Given = ReturnType<typeof readArguments>;

const SOAKS: { readonly [name: string]: (given: Given) => Promise<boolean> } = {
  kill: transactions,
  faults: transactions,
  channels,
  durable,
  calls,
  triggers,
  model,
  properties,
};

/** Returns whether every promise was kept. */
export async function soak(args: readonly string[]): Promise<boolean> {
  try {
    const given = readArguments(args);
    if (given.values.help !== true && given.positionals[0] !== 'help') return await soakOf(given.positionals)(given);
    say(USAGE);
    return true;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    say(`${error.message}\n${USAGE}`);
    return false;
  }
}

function soakOf([name = '', ...more]: readonly string[]): (given: Given) => Promise<boolean> {
  if (more.length > 0) throw new UsageError('one soak at a time');
  const found = SOAKS[name];
  if (found === undefined) throw new UsageError(`"${name}" is none of ${Object.keys(SOAKS).join(', ')}`);
  return found;
}

async function properties({ values }: Given): Promise<boolean> {
  const times = number(values.times ?? '20');
  if (times < 1 || !Number.isInteger(times)) throw new UsageError('nothing would be tried');
  return await soakProperties({ seed: seedOf(values), times, only: values.only ?? '', say });
}

function seedOf({ seed }: Given['values']): number {
  return number(seed ?? String(Date.now() % 1_000_000));
}

async function transactions(given: Given): Promise<boolean> {
  const { lines, verdict, faults, output } = await soakPayments(given);
  if (given.values.log !== undefined) await writeFile(given.values.log, output);
  const good = isKept(verdict) && faults.length === 0;
  say(`\n${describeRun(lines, verdict)}`);
  for (const fault of faults) say(`fault: ${fault}`);
  const { lost, doubled, wrong, gaps } = verdict;
  say(`\nlost ${lost.length}, doubled ${doubled.length}, wrong ${wrong.length}, gaps ${gaps.length}`);
  say(good ? 'Kept.' : 'BROKEN.');
  return good;
}

async function calls({ values }: Given): Promise<boolean> {
  const wanted = number(values.calls ?? '100000');
  const concurrency = number(values.concurrency ?? '64');
  if (wanted < 1 || concurrency < 1) throw new UsageError('nothing would be tried');
  const { lines, faults, output } = await soakCalls({ calls: wanted, concurrency, say });
  if (values.log !== undefined) await writeFile(values.log, output);
  say(`\n${describeLines(lines)}`);
  for (const fault of faults) say(`fault: ${fault}`);
  say(faults.length === 0 ? '\nKept: every answer right, nothing left over, memory flat.' : '\nBROKEN.');
  return faults.length === 0;
}

async function triggers({ values }: Given): Promise<boolean> {
  const seed = seedOf(values);
  say(`seed ${seed}`);
  const { lines, faults, output } = await soakTriggers({
    triggers: number(values.triggers ?? '100'),
    seconds: number(values.seconds ?? '100'),
    events: number(values.events ?? '50000'),
    patienceMs: number(values.patience ?? '1200') * 1_000,
    seed,
    say,
  });
  if (values.log !== undefined) await writeFile(values.log, output);
  say(`\n${describeLines(lines)}`);
  for (const fault of faults) say(`fault: ${fault}`);
  say(faults.length === 0 ? '\nKept: one call for each moment and each event.' : '\nBROKEN.');
  return faults.length === 0;
}

async function channels({ values }: Given): Promise<boolean> {
  const { transactions = '200', kills = '2', channels: accounts = '10', database = 'sqlite' } = values;
  const seed = seedOf(values);
  say(`seed ${seed}`);
  const { lines, faults, output } = await soakChannels({
    transactions: number(transactions),
    channels: number(accounts),
    kills: number(kills),
    seed,
    say,
    database: oneOf(database, ['sqlite', 'postgres']),
  });
  if (values.log !== undefined) await writeFile(values.log, output);
  say(`\n${describeLines(lines)}`);
  for (const fault of faults) say(`fault: ${fault}`);
  say(faults.length === 0 ? '\nKept: each transfer once, and no sequence in an answer.' : '\nBROKEN.');
  return faults.length === 0;
}

async function durable({ values }: Given): Promise<boolean> {
  const database = oneOf(values.database ?? 'sqlite', ['sqlite', 'postgres']);
  const instances = number(values.instances ?? '1');
  if (instances < 1 || (database === 'sqlite' && instances > 1)) throw new UsageError('sqlite has one instance');
  const seed = seedOf(values);
  say(`seed ${seed}`);
  const { lines, faults, output } = await soakDurable({
    ...{ database, instances, seed, say },
    calls: number(values.calls ?? '20'),
    kills: oneOf(values.kills ?? 'entry', ['entry', 'random']),
    patienceMs: number(values.patience ?? '900') * 1_000,
  });
  if (values.log !== undefined) await writeFile(values.log, output);
  say(`\n${describeLines(lines)}`);
  for (const fault of faults) say(`fault: ${fault}`);
  say(faults.length === 0 ? '\nKept: every call ended as if nothing had died, each effect once.' : '\nBROKEN.');
  return faults.length === 0;
}

async function model({ values }: Given): Promise<boolean> {
  const histories = number(values.histories ?? '1000');
  if (histories < 1) throw new UsageError('nothing would be tried');
  const seed = seedOf(values);
  say(`seed ${seed}`);
  const { lines, faults } = await soakModel({ histories, seed, say });
  say(`\n${describeLines(lines)}`);
  say(faults.length === 0 ? '\nKept: one effect each, nothing lost, every end true.' : '\nBROKEN.');
  return faults.length === 0;
}

function chainOf({ chain = 'evm', blocks = 'interval' }: Given['values']): SoakChain {
  switch (oneOf(chain, ['evm', 'solana', 'stellar'])) {
    case 'solana':
      return solanaChain;
    case 'stellar':
      return stellarChain;
    default:
      return evmChain(oneOf(blocks, BLOCKS));
  }
}

async function soakPayments({ values, positionals }: Given): Promise<SoakResult> {
  const [script] = positionals;
  const transactions = number(values.transactions ?? '1000');
  const options: SoakOptions = {
    transactions,
    database: oneOf(values.database ?? 'sqlite', ['sqlite', 'postgres', 'lazy-postgres']),
    chain: chainOf(values),
    seed: seedOf(values),
    patienceMs: number(values.patience ?? '180') * 1_000,
    calm: values.calm ?? false,
    say,
  };
  say(`seed ${options.seed}`);
  if (script === 'kill' && values.restores !== undefined) {
    const restores = number(values.restores);
    if (restores < 1 || options.database !== 'sqlite') throw new UsageError('a data folder is put back: sqlite only');
    return await soakRestores({ ...options, restores });
  }
  if (script === 'kill') {
    const kills = number(values.kills ?? String(Math.max(5, Math.ceil(transactions / 15))));
    return await soakKills({ ...options, kills, everyStep: transactions >= 500 });
  }
  const mode = oneOf(values.mode ?? 'all', [...FAULT_MODES, 'all'] as const);
  const modes: readonly FaultMode[] = mode === 'all' ? FAULT_MODES : [mode];
  return await soakFaults({ ...options, modes, rate: number(values.rate ?? '0.02'), pauseMs: PAUSE_MS });
}

function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        transactions: text,
        database: text,
        chain: text,
        blocks: text,
        seed: text,
        patience: text,
        kills: text,
        restores: text,
        channels: text,
        triggers: text,
        seconds: text,
        events: text,
        instances: text,
        mode: text,
        rate: text,
        log: text,
        calls: text,
        concurrency: text,
        times: text,
        only: text,
        calm: { type: 'boolean' },
        help: { type: 'boolean' },
        histories: text,
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function oneOf<const T extends string>(text: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === text);
  if (found === undefined) throw new UsageError(`"${text}" is none of ${allowed.join(', ')}`);
  return found;
}
