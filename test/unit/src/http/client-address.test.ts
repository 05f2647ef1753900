import t from 'tap';
import { subjectOfAddress } from '../../../../src/http/client-address.ts';

t.test('an IPv4 address stands for itself, also in IPv6 form', (t) => {
  t.equal(subjectOfAddress('203.0.113.9'), 'address 203.0.113.9');
  t.equal(subjectOfAddress('::ffff:203.0.113.9'), 'address 203.0.113.9');
  t.end();
});

t.test('an IPv6 address stands for its /64', (t) => {
  const one = subjectOfAddress('2001:db8:1:2:3:4:5:6');
  t.equal(one, 'address 2001:db8:1:2::/64');
  t.equal(subjectOfAddress('2001:db8:1:2:ffff::1'), one);
  t.not(subjectOfAddress('2001:db8:1:3::1'), one);
  t.equal(subjectOfAddress('::1'), 'address 0:0:0:0::/64');
  t.end();
});

t.test('what is not an address is still a subject', (t) => {
  t.equal(subjectOfAddress(''), 'address ');
  t.end();
});
