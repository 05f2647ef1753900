/** Makes this process load packages as services do. Processes that are no services import this first. */
import { takePackages } from '../../src/loading/take-packages.ts';

takePackages();
