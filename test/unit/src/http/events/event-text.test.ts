import t from 'tap';
import { EventParser } from '../../../../../src/client/event-text.ts';
import {
  callEventView,
  callsText,
  eventText,
  transactionEventView,
} from '../../../../../src/http/events/event-text.ts';

t.test('no text in an event begins another one', (t) => {
  const data = { text: 'a\n\nid: 9\r\nevent: open\u2028\n\n' };
  const text = eventText('transaction', data, '1');
  t.strictSame(new EventParser().push(text), [{ id: '1', event: 'transaction', data: JSON.stringify(data) }]);
  t.equal(eventText('reset', {}), 'event: reset\ndata: {}\n\n');
  t.end();
});

t.test('what is told of a transaction and of a call is in the words of the wire', (t) => {
  const place = { written: 1, position: 2 };
  const about = { transactionId: 't', relayerId: 'r', status: 'sent', statusReason: null, hash: '0x1' } as const;
  t.strictSame(transactionEventView({ place, at: 0, ...about }), {
    id: 't',
    relayer_id: 'r',
    status: 'sent',
    status_reason: null,
    hash: '0x1',
    at: '1970-01-01T00:00:00.000+00:00',
  });
  const call = { pluginId: 'p', requestId: 'q', keyId: 'k', at: 0, outcome: 'threw', durationMs: 3, lines: [] };
  t.match(callEventView(call), { plugin_id: 'p', request_id: 'q', outcome: 'threw', duration_ms: 3, logs: [] });
  t.end();
});

t.test('of the events of calls the last has the id', (t) => {
  const call = { pluginId: 'p', requestId: 'q', keyId: 'k', at: 0, outcome: 'threw', durationMs: 3, lines: [] };
  const events = new EventParser().push(callsText([call, { ...call, requestId: 'r' }], '7'));
  t.match(events, [
    { id: '', data: /"request_id":"q"/ },
    { id: '7', data: /"request_id":"r"/ },
  ]);
  t.equal(callsText([], '7'), '');
  t.end();
});
