import t from 'tap';
import { knowsOption, toolPath } from '../../../../sandbox/confinement/tool.ts';

t.test('a tool is taken from the folders of the system, whatever PATH says', async (t) => {
  t.match(toolPath('sh'), /^\/(usr\/)?s?bin\/sh$/);
  t.equal(toolPath('isolayer-has-no-such-tool'), undefined);
});

t.test('a tool tells which options it has', async (t) => {
  const tool = toolPath('setpriv');
  if (tool === undefined) return void t.pass('it is not installed');
  t.ok(knowsOption(tool, '--no-new-privs'));
  t.notOk(knowsOption(tool, '--has-no-such-option'));
});
