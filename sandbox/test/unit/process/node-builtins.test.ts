/** Threat: a child that cannot load a module any more once what reaches beyond it was taken away. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { nodeCrypto, nodeZlib } from '../../../process/node-builtins.ts';

t.test('a module is the one that Node has, every time', async (t) => {
  t.equal(nodeCrypto(), process.getBuiltinModule('node:crypto'));
  t.equal(nodeCrypto(), nodeCrypto());
  t.equal(nodeZlib().crc32('123456789'), 0xcbf43926, 'the check value of CRC-32');
});

t.test('none is loaded before it is asked for, and they come even when the process is confined', async (t) => {
  const at = (file: string) => JSON.stringify(import.meta.resolve(`../../../process/${file}`));
  const script = `
    const { nodeCrypto, nodeZlib } = await import(${at('node-builtins.ts')});
    const { confine } = await import(${at('confine.ts')});
    const loaded = () => ['crypto', 'zlib'].map((name) => process.moduleLoadList.includes('NativeModule ' + name));
    confine();
    console.log(...loaded(), typeof nodeCrypto().randomFillSync, typeof nodeZlib().crc32, ...loaded());
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  t.equal(stdout, 'false false function function true true\n', stderr);
});
