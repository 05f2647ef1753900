import t from 'tap';
import type { CallOutcome } from '../../../contract.ts';
import { HostLink } from '../../../guest/host-link.ts';
import { GuestHost } from '../../support/guest-host.ts';

t.test('speaks the texts of the protocol', (t) => {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  link.log('warn', 'a "quoted"\nline');
  t.strictSame(host.logs, [{ level: 'warn', message: 'a "quoted"\nline' }]);

  t.equal(link.request(7, 'kv.get', '{"key":"k"}', undefined), '');
  t.strictSame(host.requests, [{ id: 7, method: 'kv.get', params: { key: 'k' } }]);

  t.equal(link.arm(3, 250), '');
  t.strictSame([...host.timers], [[3, 250]]);
  link.disarm(3);
  t.equal(host.timers.size, 0);

  host.time = 12.5;
  t.equal(link.now(), 12.5);
  t.equal(link.random(3).length, 3);

  host.refusal = 'too many';
  t.equal(link.request(8, 'kv.get', '{}', undefined), 'too many');
  t.equal(link.arm(4, 1), 'too many');
  t.end();
});

t.test('writes every kind of outcome', (t) => {
  const outcomes: CallOutcome[] = [
    { kind: 'returned', json: '{"a":"b"}' },
    { kind: 'threw', message: 'm"', code: 'C', status: 422, details: '{"a":1}' },
    { kind: 'ended', code: 'CALL_LIMIT', message: 'too many' },
  ];
  for (const outcome of outcomes) {
    const host = new GuestHost();
    new HostLink(host.call).done(outcome);
    t.strictSame(host.outcome, outcome);
  }
  t.end();
});

t.test('asks for URLs', (t) => {
  const link = new HostLink(new GuestHost().call);
  t.equal(link.parseUrl('/a', 'https://e.com')?.href, 'https://e.com/a');
  t.equal(link.parseUrl('https://e.com:81', undefined)?.port, '81');
  t.equal(link.parseUrl('/a', undefined), null);
  t.equal(link.changeUrl('https://e.com/', 'hash', 'x')?.href, 'https://e.com/#x');
  t.end();
});

t.test('a toJSON of the plugin changes nothing', (t) => {
  const prototype = Object.prototype as { toJSON?: () => string };
  prototype.toJSON = () => 'forged';
  t.teardown(() => {
    delete prototype.toJSON;
  });
  const texts: string[] = [];
  new HostLink((_, text) => {
    texts.push(text);
    return '';
  }).done({ kind: 'ended', code: 'CALL_LIMIT', message: '1' });
  t.strictSame(texts, ['{"kind":"ended","code":"CALL_LIMIT","message":"1"}']);
  t.end();
});
