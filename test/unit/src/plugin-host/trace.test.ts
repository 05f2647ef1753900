import t from 'tap';
import { Traces } from '../../../../src/plugin-host/trace.ts';

const call = (payload: string) => ({ method: 'rpc', relayerId: 'main', requestId: 'id', payload });

t.test('a trace says what was called, how long it took and how it ended', async (t) => {
  const traces = new Traces();
  const end = traces.begin(call('a'));
  traces.begin(call('b'))('error', 2);
  t.match(traces.entries(), [{ outcome: 'running', durationMs: 0 }, { outcome: 'error' }]);
  end('ok', 1.23456);
  t.strictSame(traces.entries()[0], { ...call('a'), durationMs: 1.235, outcome: 'ok' });
});

t.test('long payloads are left out once the budget is used up, and the entries stay', async (t) => {
  const traces = new Traces();
  const large = 'x'.repeat(200_000);
  traces.begin(call(large));
  traces.begin(call(large));
  traces.begin(call('small'));
  t.same(
    traces.entries().map(({ payload }) => String(payload).length),
    [200_000, 4, 5],
  );
});
