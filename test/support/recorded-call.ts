import type { CapabilityReply, PluginVersion, RequestMessage } from '../../sandbox/contract.ts';
import { TIMER_REQUEST } from '../../sandbox/contract.ts';
import { type LocalCalls, payloadOf } from '../../src/cli/plugin/replay.ts';
import type { Delivery } from '../../src/domain/idempotency.ts';
import type { Json } from '../../src/domain/json/json.ts';
import type { CallEnding } from '../../src/features/calls/record.ts';
import { configTexts, type ReplayRecord, replayRecordOf } from '../../src/features/calls/replay-record.ts';
import { payloadHash } from '../../src/features/plugins/host/gateway.ts';

/** How long after its request an answer comes, in milliseconds, and what it is. */
export type Answer = (request: RequestMessage) => { value: Json; afterMs?: number } | { refused: string };

interface RecordedCall {
  version: PluginVersion;
  params: Json;
  route?: string;
  config?: { [key: string]: Json };
  seed: string;
  answer: Answer;
}

/** Runs a durable call, whose answers come after a while or together, and records it as the service does. */
export async function recordCall(
  calls: LocalCalls,
  { version, params, route = '', config, seed, answer }: RecordedCall,
): Promise<ReplayRecord> {
  const now = Date.now();
  const own = { params, headers: {}, route, method: 'POST', query: {}, caller: { keyId: 'test' } };
  const context = config === undefined ? own : { ...own, config };
  const deliveries: Delivery[] = [];
  let at = now;
  const report = await calls.run(version, context, { seed, now }, () => async (request) => {
    const isTimer = request.method === TIMER_REQUEST;
    const given = isTimer ? { value: null, afterMs: (request.params as { ms: number }).ms } : answer(request);
    const afterMs = 'refused' in given ? 0 : (given.afterMs ?? 0);
    await new Promise((resolve) => setTimeout(resolve, isTimer ? Math.min(afterMs, 20) : afterMs));
    at = Math.max(at + (isTimer ? afterMs : 0), Date.now());
    const reply: CapabilityReply =
      'refused' in given ? { ok: false, error: { message: given.refused } } : { ok: true, value: given.value };
    const payload = payloadOf(request);
    const { id, method } = request;
    deliveries.push({ request: id, method, hash: payloadHash(method, payload), at, reply, payload });
    return { ...reply, at };
  });
  const { outcome } = report;
  const ending: CallEnding =
    outcome.kind === 'returned'
      ? { returned: outcome.json }
      : {
          error: {
            code: outcome.code,
            message: outcome.message,
            status: outcome.kind === 'threw' ? outcome.status : 0,
            ...(outcome.kind === 'threw' ? { details: outcome.details } : {}),
          },
        };
  const start = { seed, now, version: version.version, context: JSON.stringify(context) };
  return replayRecordOf(version.pluginId, start, deliveries, ending, { ...version.env, ...configTexts(config) });
}
