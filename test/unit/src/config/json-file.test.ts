import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { codeOf, readJsonFile, shownPath } from '../../../../src/config/json-file.ts';
import { Findings, textOf } from '../../../../src/config/problems.ts';

t.test('JSON is read, a byte order mark is not', async (t) => {
  const dir = t.testdir({ 'a.json': '\uFEFF{"a":12345678901234567890}' });
  const findings = new Findings();
  t.strictSame(await readJsonFile(join(dir, 'a.json'), 'a.json', findings), { value: { a: '12345678901234567890' } });
  t.strictSame(findings.problems, []);
});

t.test('each way of failing is a problem under the name the operator knows', async (t) => {
  const dir = t.testdir({ 'bad.json': '{\n  "a": hunter2\n}', folder: {} });
  const findings = new Findings();
  t.equal(await readJsonFile(join(dir, 'bad.json'), 'bad.json', findings), undefined);
  t.equal(await readJsonFile(join(dir, 'none.json'), 'none.json', findings, 'Make it'), undefined);
  t.equal(await readJsonFile(join(dir, 'folder'), 'folder', findings), undefined);
  t.strictSame(findings.problems.map(textOf), [
    'bad.json: is not valid JSON: expected a value at line 2 column 8',
    'none.json: there is no such file. Make it',
    'folder: cannot be read (EISDIR)',
  ]);
  await chmod(join(dir, 'bad.json'), 0o600);
});

t.test('paths are shown as the operator would type them', (t) => {
  t.equal(shownPath('/a', '/a/config/c.json'), 'config/c.json');
  t.equal(shownPath('/a', '/a'), '.');
  t.equal(shownPath('/a/b', '/etc/c.json'), '/etc/c.json');
  t.equal(codeOf('odd'), 'odd');
  t.end();
});
