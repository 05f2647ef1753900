import t from 'tap';
import { Findings, textOf } from '../../../../src/config/problems.ts';
import { checkSecrets, createSecretResolver, secretSchema } from '../../../../src/config/secrets.ts';

t.test('a secret is a variable or itself', (t) => {
  const resolve = createSecretResolver({ NAME: 'value', EMPTY: '' });
  t.equal(resolve({ type: 'env', value: 'NAME' }), 'value');
  t.equal(resolve({ type: 'plain', value: 'itself' }), 'itself');
  t.throws(() => resolve({ type: 'env', value: 'NONE' }), { message: 'the environment variable NONE is not set' });
  t.throws(() => resolve({ type: 'env', value: 'EMPTY' }), /EMPTY is not set/);
  t.end();
});

t.test('the form of a secret', (t) => {
  t.ok(secretSchema.safeParse({ type: 'env', value: 'A', note: 'ignored' }).success);
  for (const wrong of ['text', { type: 'file', value: 'x' }, { type: 'env', value: '' }, { type: 'plain' }]) {
    t.notOk(secretSchema.safeParse(wrong).success, JSON.stringify(wrong));
  }
  t.end();
});

t.test('missing variables are found wherever they are named', (t) => {
  const findings = new Findings();
  const part = [
    { config: { a: { type: 'env', value: 'SET' }, deep: [{ type: 'env', value: 'NONE' }] } },
    null,
    'text',
    7,
  ];
  const names = checkSecrets(part, { file: 'f', path: 'signers' }, { SET: 'x' }, findings);
  t.strictSame(names, ['SET', 'NONE']);
  t.strictSame(findings.problems.map(textOf), [
    'f: signers[0].config.deep[0]: the environment variable NONE is not set. Set NONE, in .env for instance',
  ]);
  t.end();
});

t.test('a secret in place of the name of its variable is not shown', (t) => {
  for (const value of ['ab'.repeat(32), 'correct horse battery', 's3cret~value', `-----BEGIN PRIVATE KEY-----`]) {
    const findings = new Findings();
    checkSecrets({ key: { type: 'env', value } }, { file: 'f', path: 'signers' }, {}, findings);
    const text = findings.problems.map(textOf).join();
    t.match(text, /^f: signers\.key: .*does not look like a name.*put the secret into that variable/);
    t.notMatch(text, value);
    t.throws(() => createSecretResolver({})({ type: 'env', value }), /does not look like a name/);
  }
  t.end();
});
