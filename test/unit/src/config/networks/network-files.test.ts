import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readNetworkEntries } from '../../../../../src/config/networks/network-files.ts';
import { Findings, textOf } from '../../../../../src/config/problems.ts';

const short = JSON.stringify({ network: 'one', rpc_urls: ['https://a.test'] });
const long = JSON.stringify({ networks: [{ network: 'two', rpc_urls: null }, { network: 'three' }], note: 'ignored' });

async function read(t: Test, folder: Parameters<Test['testdir']>[0], declared?: unknown) {
  const findings = new Findings();
  const source = { declared, file: 'config.json', defaultFolder: 'networks', cwd: t.testdir(folder) };
  const entries = await readNetworkEntries(source, findings);
  return {
    places: entries.map(({ name, at }) => `${name} in ${at.file} ${at.path}`.trimEnd()),
    problems: findings.problems.map(textOf),
  };
}

t.test('every JSON file of the folder counts, in both forms, in the order of names', async (t) => {
  const networks = {
    'b.json': short,
    'a.JSON': long,
    'readme.md': 'x',
    '.hidden': 'x',
    deeper: { 'c.json': 'not read' },
  };
  for (const declared of [undefined, null, '']) {
    t.strictSame(await read(t, { networks }, declared), {
      places: [
        `two in ${join('networks', 'a.JSON')} networks[0]`,
        `three in ${join('networks', 'a.JSON')} networks[1]`,
        `one in ${join('networks', 'b.json')}`,
      ],
      problems: [],
    });
  }
});

t.test('an array or another folder may be declared instead', async (t) => {
  const networks = { 'b.json': short };
  t.strictSame((await read(t, { networks }, [{ network: 'inline', rpc_urls: ['https://a.test'] }])).places, [
    'inline in config.json networks[0]',
  ]);
  t.strictSame((await read(t, { other: networks }, 'other')).places, [`one in ${join('other', 'b.json')}`]);
  t.strictSame((await read(t, { other: networks }, './other/')).places, [`one in ${join('other', 'b.json')}`]);
});

t.test('no folder is fine unless it was named', async (t) => {
  t.strictSame(await read(t, {}), { places: [], problems: [] });
  t.match((await read(t, {}, 'elsewhere')).problems, ['elsewhere: there is no such folder. Name a folder']);
  t.match((await read(t, { file: 'x' }, 'file')).problems, [/^file: cannot be read as a folder \(ENOTDIR\)/]);
  t.match((await read(t, {}, 7)).problems, [
    'config.json: networks: must be an array of networks or the path of a folder',
  ]);
});

t.test('a bad file is named, and so is a bad entry', async (t) => {
  const { problems } = await read(t, {
    networks: { 'a.json': '{', 'b.json': '{"networks":{}}', 'c.json': '[]', 'd.json': '{"networks":[{}]}' },
  });
  t.match(problems.toSorted(), [
    /a\.json: is not valid JSON/,
    /b\.json: networks: must be an array/,
    /c\.json: expected an object/,
    /d\.json: networks\[0\]\.network: missing/,
  ]);
});
