import t from 'tap';
import { toolPath } from '../../../../sandbox/confinement/tool.ts';

t.test('a tool is taken from the folders of the system, whatever PATH says', async (t) => {
  t.match(toolPath('sh'), /^\/(usr\/)?s?bin\/sh$/);
  t.equal(toolPath('isolayer-has-no-such-tool'), undefined);
});
