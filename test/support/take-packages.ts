/** What a process imports first that is no service, to load the packages as services do. */
import { takePackages } from '../../src/loading/take-packages.ts';

takePackages();
