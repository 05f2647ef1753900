import t from 'tap';
import { welcome } from '../../../../src/observability/welcome.ts';

t.test('the first call works as pasted and reads the key from its file', (t) => {
  const text = welcome({
    address: 'http://127.0.0.1:8080',
    apiKeyFile: '/srv/isolayer/data/api-key',
    consoleAddress: null,
    signInLink: null,
    plugins: ['a', 'hello'],
  });
  t.match(text, 'ready at http://127.0.0.1:8080');
  t.match(text, 'is in /srv/isolayer/data/api-key');
  t.match(text, '-H "Authorization: Bearer $(cat /srv/isolayer/data/api-key)"');
  t.match(text, 'http://127.0.0.1:8080/api/v1/plugins/hello/call');
  t.end();
});

t.test('a folder with blanks and quotes stays one argument', (t) => {
  const text = welcome({
    address: 'http://127.0.0.1:1',
    apiKeyFile: "/my data/it's/api-key",
    consoleAddress: null,
    signInLink: null,
    plugins: ['a', 'hello'],
  });
  t.match(text, `$(cat '/my data/it'\\''s/api-key')`);
  t.end();
});

t.test('a key of the environment is named, not shown', (t) => {
  const text = welcome({
    address: 'http://127.0.0.1:1',
    apiKeyFile: null,
    consoleAddress: null,
    signInLink: null,
    plugins: [],
  });
  t.match(text, 'Bearer $API_KEY"');
  t.end();
});

t.test('a link that signs in stands beside the address, where there is one', (t) => {
  const consoleAddress = 'http://127.0.0.1:1/console';
  const signInLink = `${consoleAddress}#/sign-in/abc`;
  const text = welcome({
    address: 'http://127.0.0.1:1',
    apiKeyFile: '/data/api-key',
    consoleAddress,
    signInLink,
    plugins: [],
  });
  t.match(text, `works once, within ten minutes:\n\n  ${signInLink}\n`);
  t.notMatch(
    welcome({ address: 'http://127.0.0.1:1', apiKeyFile: null, consoleAddress: null, signInLink: null, plugins: [] }),
    /browser/,
  );
  const later = welcome({
    address: 'http://127.0.0.1:1',
    apiKeyFile: '/data/api-key',
    consoleAddress,
    signInLink: null,
    plugins: [],
  });
  t.match(later, `sign in with the API key: ${consoleAddress}\n`, 'each later start names the console too');
  t.end();
});

t.test('the first call is of a plugin that serves, and of the relayers where there is none', (t) => {
  const text = (plugins: string[]) =>
    welcome({ address: 'http://127.0.0.1:1', apiKeyFile: null, consoleAddress: null, signInLink: null, plugins });
  t.match(text(['pay']), `-d '{"params": {}}' http://127.0.0.1:1/api/v1/plugins/pay/call\n`);
  t.match(text([]), 'curl -H "Authorization: Bearer $API_KEY" http://127.0.0.1:1/api/v1/relayers\n');
  t.notMatch(text([]), /hello|params/);
  t.end();
});
