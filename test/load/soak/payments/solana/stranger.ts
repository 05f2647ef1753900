import type { SvmEndpoint } from '../../../../doubles/svm/svm.ts';
import type { Shown, Stranger } from '../chain.ts';
import { pass } from '../pass.ts';

const PAUSE_MS = [200, 1_500] as const;
/** It chooses among this many of the newest bytes, because nodes refuse old ones. */
const RECENT = 40;

/** Sends signed bytes from the API at random times, also of transactions that are canceled, dead or in a block. */
export function startStranger(node: SvmEndpoint, random: () => number, shown: () => readonly Shown[]): Stranger {
  const stopped = new AbortController();
  let sent = 0;

  async function send(): Promise<void> {
    const recent = shown()
      .flatMap((one) => one.bytes ?? [])
      .slice(-RECENT);
    const bytes = recent[Math.floor(random() * recent.length)];
    if (bytes === undefined) return;
    await node.rpc('sendTransaction', [bytes, { encoding: 'base64', skipPreflight: true }]);
    sent += 1;
  }

  async function go(): Promise<void> {
    while (await pass(PAUSE_MS[0] + random() * (PAUSE_MS[1] - PAUSE_MS[0]), stopped.signal)) {
      await send();
    }
  }

  const going = go();
  return {
    get sent() {
      return sent;
    },
    async stop() {
      stopped.abort();
      await going;
    },
  };
}
