/**
 * The service, composed and started as in `src/main.ts`, in a process that kills itself, or the processes of its
 * plugins, at entries into the guest: the start of a run and each answer that the guest hears. `SOAK_PLANS` is a folder
 * with a plan for each call. The production code knows nothing of it: the functions are wrapped that an entry passes.
 */
import { appendFileSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SandboxProcesses } from '../../../../sandbox/host/sandbox-processes.ts';
import { compose } from '../../../../src/app/compose.ts';
import { createChains } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { CallJournal } from '../../../../src/features/plugins/host/call-journal.ts';
import type { RunningCalls } from '../../../../src/features/plugins/host/call-record.ts';
import { CallRunner } from '../../../../src/features/plugins/host/call-runner.ts';
import { CapabilityGateway } from '../../../../src/features/plugins/host/gateway.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { loadConfiguration } from '../../../../src/settings/load.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';
import { KILLS_FILE, PHASES, type Phase, type Plan, type PlannedKill, type Victim } from './plan.ts';

const { SOAK_PLANS: plans = '', ...env } = process.env;

/** How long a run is held at its entry, so that other calls come to theirs and die with it. */
const HELD_MS = 1_000;
/** The most time from the moment when an answer is sent until the process dies. */
const SENT_MS = 4;
/** How long an effect may take to come to its commit. */
const COMMIT_MS = 1_000;
/** The calls whose outcome is stored, with what was heard before. */
const EFFECTS: ReadonlySet<string> = new Set(['relayer.sendTransaction', 'kv.set']);
/** Places where no process of a plugin has the run. */
const OUTSIDE: ReadonlySet<string> = new Set(['start', 'suspension', 'end']);

/** One run of a call that has a plan. */
class PlannedRun {
  /** Entries of this run so far. */
  entries = 0;
  /** Whether it is to die at the entry to which it came. Nothing more reaches its guest. */
  isOver = false;
  readonly name: string;
  readonly plan: Plan;

  constructor(name: string, plan: Plan) {
    this.name = name;
    this.plan = plan;
  }

  get #turn(): number {
    return this.plan.salt + this.plan.next;
  }

  get phase(): Phase {
    return PHASES[this.#turn % PHASES.length] ?? 'held';
  }

  get victim(): Victim {
    return Math.floor(this.#turn / PHASES.length) % 2 === 0 ? 'service' : 'plugin';
  }

  /** An answer is determined, and stored if it has to be, or the run is about to begin. Undefined: it may go on. */
  enters(at: string): Promise<void> | undefined {
    if (this.isOver) return new Promise(() => {});
    this.entries += 1;
    if (this.entries !== this.plan.next) return undefined;
    this.isOver = true;
    return hold(this, at, this.phase === 'sent' ? 'sent' : 'held');
  }

  /** The guest asks for something. Undefined: it may be done. */
  asks(method: string): Promise<void> | undefined {
    if (this.isOver || this.phase !== 'commit' || this.entries + 1 !== this.plan.next || !EFFECTS.has(method)) return;
    return hold(this, method, 'commit');
  }
}

interface Dying {
  run: PlannedRun;
  at: string;
  phase: Phase;
  release: () => void;
}

const runs = new Map<string, PlannedRun>();
const held = new Map<PlannedRun, Dying>();
const sandboxes = new Set<SandboxProcesses>();
let holding: NodeJS.Timeout | undefined;
/** What happens when this run comes to the commit of its effect. */
let atCommit: { run: PlannedRun; die: () => void } | undefined;

function hold(run: PlannedRun, at: string, phase: Phase): Promise<void> {
  held.get(run)?.release();
  const { promise, resolve } = Promise.withResolvers<void>();
  held.set(run, { run, at, phase, release: resolve });
  if (atCommit !== undefined) return promise;
  if ([...runs.values()].every((one) => held.has(one))) setImmediate(endHeld);
  else holding ??= setTimeout(endHeld, HELD_MS);
  return promise;
}

/** Has all runs die that are held, each as it wants to. One of them may be in its commit. */
function endHeld(): void {
  clearTimeout(holding);
  holding = undefined;
  const [first] = held.values();
  if (first === undefined || atCommit !== undefined) return;
  const victim = OUTSIDE.has(first.at) ? 'service' : first.run.victim;
  const able = [...held.values()].filter(({ at }) => victim === 'service' || !OUTSIDE.has(at));
  const committing = able.find(({ phase }) => phase === 'commit');
  const others = able.filter(({ phase }) => phase !== 'commit');
  for (const { run } of committing === undefined ? others : [committing, ...others]) held.delete(run);
  for (const { phase, release } of others) if (phase === 'sent') release();
  if (committing === undefined) {
    if (others.some(({ phase }) => phase === 'sent')) setTimeout(() => die(victim, others), Math.random() * SENT_MS);
    else die(victim, others);
    return;
  }
  const { run, release } = committing;
  // What it wrote may have been refused before its commit.
  const late = setTimeout(() => {
    committing.phase = 'held';
    atCommit?.die();
  }, COMMIT_MS);
  atCommit = {
    run,
    die: () => {
      clearTimeout(late);
      atCommit = undefined;
      die(victim, [committing, ...others]);
    },
  };
  release();
}

/** Ends the process, or those of plugins, and with them these runs. Notes how far each call has come. */
function die(victim: Victim, dying: readonly Dying[]): void {
  for (const { run, at, phase } of dying) {
    const { name, plan } = run;
    run.isOver = true;
    held.get(run)?.release();
    held.delete(run);
    const kill: PlannedKill = { name, victim, at, phase, entry: plan.next };
    if (at === 'end') plan.isEndDone = true;
    else if (at === 'suspension') plan.isSuspensionDone = true;
    else plan.next += 1;
    writeFileSync(join(plans, `${name}.json`), JSON.stringify(plan));
    appendFileSync(join(plans, KILLS_FILE), `${JSON.stringify(kill)}\n`);
  }
  if (victim === 'service') {
    writeSync(process.stderr.fd, 'ends at step entry\n');
    process.kill(process.pid, 'SIGKILL');
  }
  const children = [...sandboxes].flatMap((processes) => [...processes.list()]);
  for (const { pluginId, pids } of children) if (pluginId !== '') for (const pid of pids) kill(pid);
  for (const { release } of dying) release();
  if (held.size > 0) holding ??= setTimeout(endHeld, HELD_MS);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function planOf(name: unknown): Plan | undefined {
  try {
    return JSON.parse(readFileSync(join(plans, `${String(name)}.json`), 'utf8')) as Plan;
  } catch {
    return undefined;
  }
}

const { runDurable } = CallRunner.prototype;
CallRunner.prototype.runDurable = async function wrapped(plugin, given) {
  const { params } = JSON.parse(given.journal.start.context) as { params: { name?: unknown } };
  const plan = planOf(params.name);
  if (plan === undefined) return await runDurable.call(this, plugin, given);
  const run = new PlannedRun(String(params.name), plan);
  runs.set(given.callId, run);
  try {
    await run.enters('start');
    const end = await runDurable.call(this, plugin, given);
    if (end.kind === 'ended' && !plan.isEndDone) await hold(run, 'end', 'held');
    if (end.kind === 'waits' && !plan.isSuspensionDone) await hold(run, 'suspension', 'held');
    return end;
  } finally {
    held.delete(run);
    if (runs.get(given.callId) === run) runs.delete(given.callId);
  }
};

const { answer } = CapabilityGateway.prototype;
CapabilityGateway.prototype.answer = async function wrapped(child, call, message) {
  const { calls } = (this as unknown as { deps: { calls: RunningCalls } }).deps;
  const record = calls.find(child, call);
  const run = record === undefined ? undefined : runs.get(record.fingerprint());
  const asking = run?.asks(message.method);
  if (asking !== undefined) await asking;
  const reply = await answer.call(this, child, call, message);
  // Only a run that dies is held: answers have to leave in the order in which they were given.
  const isHeld = run === undefined || record?.ended !== false ? undefined : run.enters(message.method);
  if (isHeld !== undefined) await isHeld;
  return reply;
};

const { effect } = CallJournal.prototype;
CallJournal.prototype.effect = function wrapped(asked) {
  const named = effect.call(this, asked);
  const run = runs.get(this.claim.id);
  // The journal is read in the commit of the effect.
  const journal = Object.getOwnPropertyDescriptor(named.effect, 'journal');
  if (run === undefined || journal?.get === undefined) return named;
  const { get } = journal;
  Object.defineProperty(named.effect, 'journal', {
    ...journal,
    get() {
      if (atCommit?.run === run) atCommit.die();
      return get.call(named.effect);
    },
  });
  return named;
};

const { fill } = SandboxProcesses.prototype;
SandboxProcesses.prototype.fill = function wrapped(...given) {
  sandboxes.add(this);
  fill.apply(this, given);
};

const chains = createChains(systemClock);
const signerKinds = createSignerKinds();
const configuration = await loadConfiguration({ env, cwd: process.cwd(), chains, signerKinds });
const log = createLog(configuration.environment.LOG_LEVEL);
const service = await compose({ configuration, chains, signerKinds, log });
log.info({ address: service.address }, 'ready');
