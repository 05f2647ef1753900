import t from 'tap';
import { isBuildFailure } from '../../../../../../src/plugin-host/compiler/failures/build-failure.ts';

t.test('what is wrong with the files is told from what is wrong with the bundler', async (t) => {
  t.equal(isBuildFailure(Object.assign(new Error('Build failed'), { errors: [], warnings: [] })), true);
  t.equal(isBuildFailure(new Error('The service was stopped')), false);
  t.equal(isBuildFailure('text'), false);
});
