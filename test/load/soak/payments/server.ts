/**
 * The service, composed and started as in `src/main.ts`, in a process that kills itself at a step of a transaction's
 * life: `SOAK_DIE_AT=<step>:<occurrence>`. The production code only calls `onCheckpoint` at each step.
 */
import { writeSync } from 'node:fs';
import { compose } from '../../../../src/app/compose.ts';
import { createChains } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { CRASH_POINTS, type CrashPoint } from '../../../../src/engine/lane/lane-step.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { loadConfiguration } from '../../../../src/settings/load.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';

const { SOAK_DIE_AT: dieAt = '', ...env } = process.env;
const [name, occurrence] = dieAt.split(':');
const last = CRASH_POINTS.find((step) => step === name);
let left = Number(occurrence);
if (last === undefined || !(left > 0)) throw new Error(`SOAK_DIE_AT=${dieAt} names no step`);

/** The kernel ends the process before `kill` returns, so it does nothing after its last step. */
function onCheckpoint(step: CrashPoint): void {
  if (step !== last) return;
  left -= 1;
  if (left > 0) return;
  writeSync(process.stderr.fd, `ends at step ${step}\n`);
  process.kill(process.pid, 'SIGKILL');
}

const chains = createChains(systemClock);
const signerKinds = createSignerKinds();
const configuration = await loadConfiguration({ env, cwd: process.cwd(), chains, signerKinds });
const log = createLog(configuration.environment.LOG_LEVEL);
const service = await compose({ configuration, chains, signerKinds, log, onCheckpoint });
log.info({ address: service.address }, 'ready');
