import t from 'tap';
import { AppError, invalidRequest, messageOf } from '../../../../src/domain/errors.ts';
import { isMaskedUrl, maskKeys, maskUrl } from '../../../../src/domain/mask-url.ts';
import { printable } from '../../../../src/domain/printable.ts';

t.test('an error names the thing it is about', (t) => {
  const error = new AppError('RELAYER_NOT_FOUND', { id: 'r1' });
  t.equal(error.message, 'Relayer with ID r1 not found');
  t.equal(error.publicMessage, error.message);
  t.equal(error.status, 404);
  t.equal(error.retryable, false);
  t.end();
});

t.test('the fixed text stands beside the specific reason', (t) => {
  const error = invalidRequest('value: missing');
  t.equal(error.message, 'value: missing');
  t.equal(error.publicMessage, 'Bad Request');
  t.equal(error.status, 400);
  t.end();
});

t.test('a value cannot smuggle in another placeholder', (t) => {
  const error = new AppError('SIGNER_FAILED', { id: '{reason}', reason: 'x' });
  t.equal(error.message, 'Signer {reason} failed: x');
  t.end();
});

t.test('the cause is kept', (t) => {
  const cause = new Error('socket');
  t.equal(new AppError('INTERNAL', {}, { cause }).cause, cause);
  t.end();
});

t.test('anything thrown has a message', (t) => {
  t.equal(messageOf(new Error('down')), 'down');
  t.equal(messageOf('text'), 'text');
  t.end();
});

t.test('what may be a key is hidden, the host is shown', async (t) => {
  const masked: Record<string, string> = {
    'https://rpc.example': 'https://rpc.example',
    'https://rpc.example/': 'https://rpc.example/',
    'http://127.0.0.1:8545': 'http://127.0.0.1:8545',
    'https://rpc.example:8545/v3/secret': 'https://rpc.example:8545/***',
    'https://rpc.example/?key=secret': 'https://rpc.example/***',
    'https://rpc.example?key=secret': 'https://rpc.example?***',
    'https://rpc.example#secret': 'https://rpc.example#***',
    'https://user:secret@rpc.example/v3': 'https://rpc.example/***',
    'https://user:sec@ret@rpc.example': 'https://rpc.example',
    'secret without a scheme': '***',
    '': '***',
  };
  for (const [url, shown] of Object.entries(masked)) t.equal(maskUrl(url), shown, url);
});

t.test('of a webhook the words are shown, and whatever was hidden can be told', async (t) => {
  const masked: Record<string, string> = {
    'https://hooks.example': 'https://hooks.example',
    'https://hooks.example/': 'https://hooks.example/',
    'https://hooks.example:8443/api/webhook': 'https://hooks.example:8443/api/webhook',
    'https://hooks.slack.com/services/T0AB/B01234567/abcdefgh': 'https://hooks.slack.com/***/T0AB/***/***',
    'https://hooks.example/hook?key=1': 'https://hooks.example/hook?***',
    'https://hooks.example?key=1': 'https://hooks.example?***',
    'https://hooks.example/hook#part': 'https://hooks.example/hook#***',
    'https://user@hooks.example': 'https://***@hooks.example',
    'https://user:sec@ret@hooks.example/a': 'https://***@hooks.example/a',
    'secret without a scheme': '***',
  };
  for (const [url, shown] of Object.entries(masked)) {
    t.equal(maskKeys(url), shown, url);
    t.equal(isMaskedUrl(shown), shown !== url);
  }
});

t.test('a foreign text becomes one line of bounded length', async (t) => {
  t.equal(printable('a\u0000\u001b[31mb\r\n\u202ec', 50), 'a [31mb c');
  t.equal(printable('é'.repeat(9), 4), 'éééé...(truncated)');
});
