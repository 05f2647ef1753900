import { tmpdir } from 'node:os';

/** The variable in which the runner says where its folder is. */
const VARIABLE = 'ISOLAYER_TEST_FOLDER';

/** The folder that a test run has made for what its files share; absent where a file is started by itself. */
export function sharedFolder(): string | undefined {
  return process.env[VARIABLE];
}

/** Where databases and workspaces are made: in memory where the run found room for them. */
export function quickFolder(): string {
  return sharedFolder() ?? tmpdir();
}
