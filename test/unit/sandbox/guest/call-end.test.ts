import t from 'tap';
import { CallEnd } from '../../../../sandbox/guest/call-end.ts';
import { HostLink } from '../../../../sandbox/guest/host-link.ts';
import { GuestHost } from '../../../support/guest-host.ts';

function open(resultBytes = 100) {
  const host = new GuestHost();
  const end = new CallEnd(new HostLink(host.call));
  end.begin(resultBytes);
  return { host, end };
}

t.test('the first end counts', (t) => {
  const { host, end } = open();
  t.ok(end.open);
  end.returned({ a: 1 });
  t.notOk(end.open);
  end.returned(2);
  end.threw(new Error('late'));
  end.ended('CALL_LIMIT', 'late');
  t.strictSame(host.outcome, { kind: 'returned', json: '{"a":1}' });
  end.begin(100);
  end.threw(new Error('next'));
  t.match(host.outcomes[1], { kind: 'threw', message: 'next' });
  t.end();
});

t.test('a result without text, or with too much of it, ends the call', (t) => {
  const shape = open();
  shape.end.returned({ a: 1n });
  t.strictSame(shape.host.outcome, { kind: 'ended', code: 'RESULT_NOT_SERIALIZABLE', message: 'result.a is a BigInt' });
  const size = open(3);
  size.end.returned('abc');
  t.match(size.host.outcome, {
    kind: 'ended',
    code: 'RESULT_TOO_LARGE',
    message: /limit is 3 bytes \(limits.result_bytes\)$/,
  });
  const thrown = open();
  thrown.end.returned({
    toJSON() {
      throw new TypeError('mine');
    },
  });
  t.match(thrown.host.outcome, { kind: 'threw', message: 'mine', code: 'TYPE_ERROR' });
  t.end();
});

t.test('dropped details leave a line in the log', (t) => {
  const { host, end } = open();
  end.threw({ message: 'm', details: { a: 1n } });
  t.match(host.outcome, { details: '{}' });
  t.strictSame(host.lines, ["warn: The error's details were dropped: details.a is a BigInt"]);
  t.end();
});

t.test('what escapes ends the running call, and is logged when none runs', (t) => {
  const { host, end } = open();
  end.uncaught(new Error('in the call'));
  t.match(host.outcome, { kind: 'threw', message: 'in the call' });
  end.uncaught('after it');
  t.strictSame(host.lines, ['error: Uncaught "after it"']);
  t.equal(host.outcomes.length, 1);
  t.end();
});
