/**
 * Recorded calls of plugins with chain libraries and of published ones run again in another process without a
 * difference. `ISOLAYER_REPLAYS` says how many.
 */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { LocalCalls, replayCall } from '../../src/cli/plugin/replay.ts';
import { configTexts } from '../../src/features/calls/replay-record.ts';
import { recordCall } from '../support/recorded-call.ts';
import { openSamples, sampleAnswers } from '../support/recorded-samples.ts';

const CALLS = Number(process.env['ISOLAYER_REPLAYS'] ?? 60);
const PARALLEL = 4;

const samples = await openSamples();
const [recording, replaying] = await Promise.all([LocalCalls.open(), LocalCalls.open()]);
t.teardown(async () => {
  samples.close();
  await Promise.all([recording.close(), replaying.close()]);
});

t.test('calls of every sample run again without a difference', { timeout: 0 }, async (t) => {
  let left = CALLS;
  let requests = 0;
  const ends = new Map<string, number>();
  const worker = async () => {
    for (let i = --left; i >= 0; i = --left) {
      const { version, ...call } = samples.call(i);
      const seed = randomBytes(32).toString('hex');
      const record = await recordCall(recording, { version, ...call, seed, answer: sampleAnswers() });
      const secrets = { ...version.env, ...configTexts(call.config) };
      const { differences, requests: made } = await replayCall(replaying, record, version, { secrets });
      requests += made;
      const end = `${version.pluginId} ${record.outcome !== null && 'returned' in record.outcome ? 'returned' : JSON.stringify(record.outcome)}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      if (differences.length > 0) t.strictSame(differences, [], `${version.pluginId} ${JSON.stringify(record)}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  t.comment(`${CALLS} calls, ${requests} requests`);
  for (const [end, count] of ends) t.comment(`${count} × ${end.slice(0, 300)}`);
  t.ok(requests > CALLS, `${requests} requests`);
  for (const id of ['hello', 'ethers', 'viem', 'stellar-sdk', 'channels', 'x402', 'mixed']) {
    t.ok([...ends.keys()].includes(`${id} returned`), `${id} returned`);
  }
});
