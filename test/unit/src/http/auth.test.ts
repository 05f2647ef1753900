import t from 'tap';
import { createAuthenticator } from '../../../../src/http/auth.ts';

const KEY = 'k'.repeat(32);
const authenticate = createAuthenticator({ id: 'default', key: KEY });

t.test('the key is accepted, whatever case the header name has', (t) => {
  t.equal(authenticate(['Host', 'x', 'Authorization', `Bearer ${KEY}`]), 'default');
  t.equal(authenticate(['AUTHORIZATION', `Bearer ${KEY}`]), 'default');
  t.end();
});

t.test('everything else is not', (t) => {
  const refused = [
    [],
    ['authorization', ''],
    ['authorization', 'Bearer '],
    ['authorization', KEY],
    ['authorization', `bearer ${KEY}`],
    ['authorization', `Basic ${KEY}`],
    ['authorization', `Bearer  ${KEY}`],
    ['authorization', `Bearer ${KEY} `],
    ['authorization', `Bearer ${KEY.slice(1)}`],
    ['authorization', `Bearer ${KEY}k`],
    ['authorization', `Bearer ${KEY}, Bearer ${KEY}`],
    ['authorization', `Bearer ${KEY}`, 'Authorization', `Bearer ${KEY}`],
    ['authorization', 'Basic x', 'authorization', `Bearer ${KEY}`],
    ['x-authorization', `Bearer ${KEY}`],
    ['authorization'],
  ];
  for (const headers of refused) t.equal(authenticate(headers), undefined, headers.join(' '));
  t.end();
});
