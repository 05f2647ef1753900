import { randomBytes } from 'node:crypto';
import t from 'tap';
import { SignInCode } from '../../../../../src/http/access/sign-in-code.ts';

const MINUTE_MS = 60_000;

t.test('a code is exchanged once, within ten minutes, until there is a newer one', (t) => {
  let elapsed = 0;
  const codes = new SignInCode({ key: 'the key', elapsed: () => elapsed, randomBytes });
  t.equal(codes.exchange(''), undefined, 'there is none yet');
  const first = codes.make();
  t.match(first, /^[\w-]{43}$/);
  t.equal(codes.exchange('another'), undefined);
  t.equal(codes.exchange(first), 'the key', 'a wrong one before takes nothing away');
  t.equal(codes.exchange(first), undefined);

  const old = codes.make();
  const newer = codes.make();
  t.equal(codes.exchange(old), undefined);
  elapsed = 10 * MINUTE_MS + 1;
  t.equal(codes.exchange(newer), undefined);
  t.end();
});
