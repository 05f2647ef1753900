/**
 * Measures signatures by kind of signer, one after the other: from the request to the verified signature. Compares them
 * with the bare operation of the curve and its verification. Services answer from memory, and their own time is
 * subtracted. Only AWS's client uses a network, here loopback; this time counts. Also measures many signatures at once.
 */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/domain/clock.ts';
import { createSignerHttp } from '../../../src/egress/signer-http.ts';
import { NO_METRICS } from '../../../src/observability/metrics.ts';
import { createSecretResolver } from '../../../src/settings/secrets.ts';
import { holdKey } from '../../../src/signers/held-key.ts';
import { RestartingKeyThread } from '../../../src/signers/keys/key-worker.ts';
import { createSignerKinds, openSigner } from '../../../src/signers/registry.ts';
import type { Curve, Signer } from '../../../src/signers/signer.ts';
import { startAwsKms } from '../../support/signers/aws-kms-double.ts';
import { startAzure } from '../../support/signers/azure-double.ts';
import { startCdp } from '../../support/signers/cdp-double.ts';
import { startGoogleKms } from '../../support/signers/google-kms-double.ts';
import { keystoreFile } from '../../support/signers/keystore-file.ts';
import type { Spent } from '../../support/signers/service-double.ts';
import type { SignerSubject } from '../../support/signers/signer-contract.ts';
import { startTurnkey } from '../../support/signers/turnkey-double.ts';
import { startStoredKey, startTransitKey } from '../../support/signers/vault-double.ts';

export interface SignerBench {
  /** Sequential signatures of each kind on each curve. */
  signatures: number;
  /** Signatures that are requested at once. */
  together: number;
}

export interface SignerFigures {
  type: string;
  curve: Curve;
  /** Median time from the request to the verified signature, in microseconds. */
  micros: number;
  /** Median time of the bare operation with its verification, in microseconds. Alternates with the signer. */
  bareMicros: number;
  /** Processor time per signature of many at once, in microseconds: of the main thread, and of the whole process. */
  mainMicros: number;
  cpuMicros: number;
}

const ROUNDS = 10;

/** Runs the benchmark for each kind on each of its curves. */
export async function benchSigners(bench: SignerBench): Promise<SignerFigures[]> {
  const folder = await mkdtemp(join(tmpdir(), 'isolayer-bench-'));
  const figures: SignerFigures[] = [];
  try {
    for (const start of subjectsIn(folder)) {
      const subject = await start();
      try {
        figures.push(await measure(subject, bench));
      } finally {
        await subject.service?.stop();
      }
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function subjectsIn(folder: string): (() => Promise<SignerSubject>)[] {
  const both = (['secp256k1', 'ed25519'] as const).flatMap((curve) => [
    () => keystoreFile(folder, curve),
    () => startStoredKey(curve),
    () => startAwsKms(curve),
    () => startGoogleKms(curve),
    () => startTurnkey(curve),
    () => startCdp(curve),
  ]);
  return [...both, startAzure, startTransitKey];
}

async function measure(subject: SignerSubject, { signatures, together }: SignerBench): Promise<SignerFigures> {
  const { type, curve } = subject;
  const memory = subject.service?.inMemory();
  const network = createSignerHttp();
  const keeper = new RestartingKeyThread();
  const signer = await openSigner(
    createSignerKinds(),
    { id: 'bench', ...subject },
    {
      secrets: createSecretResolver(subject.environment ?? {}),
      http: memory ?? network,
      identity: network,
      ...{
        clock: systemClock,
        random: Math.random,
        metrics: NO_METRICS,
        keys: keeper,
        reread: async () => subject.config,
      },
    },
  );
  try {
    await many(signer, subject, 200);
    const spent = () => ({ ...(memory?.spent ?? { ms: 0, cpuMs: 0 }) });
    const bare = holdKey(randomBytes(32));
    const [times, bareTimes]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let count = 0; count < signatures / ROUNDS; count += 1) {
        const payload = payloadOf(subject);
        const { ms } = spent();
        times.push((await timed(() => signer.sign(curve, payload))) - (spent().ms - ms));
        bareTimes.push(await timed(() => bare.sign(curve, payload)));
      }
    }
    const busy = await cost(spent, () => many(signer, subject, together));
    const each = 1000 / together;
    return {
      type,
      curve,
      micros: median(times) * 1000,
      bareMicros: median(bareTimes) * 1000,
      mainMicros: busy.mainMs * each,
      cpuMicros: busy.cpuMs * each,
    };
  } finally {
    await signer.close();
    await Promise.all([network.close(), keeper.close()]);
  }
}

async function many(signer: Signer, subject: SignerSubject, count: number): Promise<void> {
  const payloads = Array.from({ length: count }, () => payloadOf(subject));
  await Promise.all(payloads.map((payload) => signer.sign(subject.curve, payload)));
}

function payloadOf({ publicKey, payload }: SignerSubject): Buffer {
  return payload === undefined ? randomBytes(32) : payload(publicKey);
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Processor time in milliseconds, without the time of services that answer from memory. */
async function cost(spent: () => Spent, work: () => Promise<void>): Promise<{ mainMs: number; cpuMs: number }> {
  const [before, main, all] = [spent().cpuMs, process.threadCpuUsage(), process.cpuUsage()];
  await work();
  const [mainAfter, allAfter, others] = [process.threadCpuUsage(main), process.cpuUsage(all), spent().cpuMs - before];
  const ms = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000 - others;
  return { mainMs: ms(mainAfter), cpuMs: ms(allAfter) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
