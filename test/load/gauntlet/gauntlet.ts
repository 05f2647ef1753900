/**
 * `npm run gauntlet` runs every attack of the tests against the real server, which serves honest plugins and relays
 * transactions meanwhile.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ATTACKS } from '../../support/attacks/attacks.ts';
import { number, say, UsageError } from '../arguments.ts';
import { describeGauntlet } from './report.ts';
import { runGauntlet } from './run.ts';

const USAGE = `npm run gauntlet -- [options]
  --minutes <number>   default 10; a sixth of them without attacks, half before and half after the rest.
                       Another minute passes before the second half
  --seed <number>      default: another one each time
  --only <text>        only attacks whose name holds it
  --log <file>         where to write what the server wrote`;

const MINUTE_MS = 60_000;
const WARM_UP_MS = 10_000;
/** Longer than the server keeps an idle process: 60 s. */
const SETTLE_MS = 65_000;
const QUIET = 1 / 6;
const PACE_MS = 500;
const PATIENCE_MS = 120_000;
/** A collection takes about 0.05 s. Requests that overlap one are left out, both in the quiet time and under attack. */
const COLLECT_EVERY_MS = 30_000;

/** Returns whether every promise was kept. */
export async function gauntlet(args: readonly string[]): Promise<boolean> {
  try {
    return await attackFor(readArguments(args));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    say(`${error.message}\n${USAGE}`);
    return false;
  }
}

async function attackFor({ minutes, seed, only, log }: ReturnType<typeof readArguments>): Promise<boolean> {
  const attacks = ATTACKS.filter(({ name }) => name.includes(only));
  if (attacks.length === 0) throw new UsageError(`No attack is named "${only}".`);
  say(`seed ${seed}, ${attacks.length} attacks`);
  const ms = minutes * MINUTE_MS;
  const result = await runGauntlet({
    attacks,
    seed,
    warmUpMs: WARM_UP_MS,
    quietMs: ms * QUIET,
    attackMs: ms * (1 - QUIET),
    settleMs: SETTLE_MS,
    paceMs: PACE_MS,
    patienceMs: PATIENCE_MS,
    collectEveryMs: COLLECT_EVERY_MS,
    say,
  });
  if (log !== undefined) await writeFile(log, result.output);
  const good = result.verdict.broken.length === 0;
  say(`\n${describeGauntlet(result)}`);
  say(good ? '\nKept: every attack contained, nobody else disturbed, nothing lost.' : '\nBROKEN.');
  return good;
}

function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({ args: [...args], options: { minutes: text, seed: text, only: text, log: text } });
    return {
      minutes: number(values.minutes ?? '10'),
      seed: number(values.seed ?? String(Date.now() % 1_000_000)),
      only: values.only ?? '',
      log: values.log,
    };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
