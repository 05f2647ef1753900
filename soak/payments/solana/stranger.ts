import type { SvmEndpoint } from '../../../test/support/svm.ts';
import type { Shown, Stranger } from '../chain.ts';
import { pass } from '../pass.ts';

const PAUSE_MS = [200, 1_500] as const;
/** Of so many, as nobody takes what is old. */
const RECENT = 40;

/** Now and then sends signed bytes that the API showed: those of what is canceled, dead or in a block as well. */
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
