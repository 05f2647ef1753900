import t from 'tap';
import { Traces } from '../../../../../../src/features/plugins/host/trace.ts';

const call = (payload: string) => ({ method: 'rpc', relayerId: 'main', requestId: 'id', payload });

t.test('a trace says what was called, how long it took and how it ended', async (t) => {
  const traces = new Traces();
  const end = traces.begin(call('a'), 10);
  traces.begin(call('b'), 11)('error', 13);
  traces.begin(call('c'), 12)('refused', 12);
  t.match(traces.entries(15), [
    { outcome: 'running', durationMs: 5 },
    { outcome: 'error', durationMs: 2 },
    { outcome: 'refused', durationMs: 0 },
  ]);
  end('ok', 11.23456);
  t.strictSame(traces.entries(99)[0], { ...call('a'), durationMs: 1.235, outcome: 'ok' });
});

t.test('long payloads are left out once the budget is used up, and the entries stay', async (t) => {
  const traces = new Traces();
  const large = 'x'.repeat(200_000);
  for (const payload of [large, large, 'small']) traces.begin(call(payload), 0);
  t.same(
    traces.entries(0).map(({ payload }) => String(payload).length),
    [200_000, 4, 5],
  );
});
