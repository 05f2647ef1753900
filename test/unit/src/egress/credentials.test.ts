import t from 'tap';
import { basicCredentials, unescaped } from '../../../../src/egress/credentials.ts';

t.test('user-info as it goes over the wire', async (t) => {
  const sent = (url: string) => {
    const credentials = basicCredentials(new URL(url));
    return credentials && Buffer.from(credentials, 'base64').toString('utf8');
  };
  t.equal(sent('https://user:p%40ss@rpc.example.com'), 'user:p@ss');
  t.equal(sent('https://user:100%zz@rpc.example.com'), 'user:100%zz', 'a bare % is itself');
  t.equal(sent('https://:only@rpc.example.com'), ':only');
  t.equal(sent('https://rpc.example.com'), undefined);
});

t.test('escapes that are none stay', async (t) => {
  t.equal(unescaped('s3%20cret'), 's3 cret');
  t.equal(unescaped('%E0%A4%A'), '%E0%A4%A');
});
