#!/usr/bin/env node
// Starts Pakhus; builds it first if the build is missing or older than its sources.
import { buildIfStale } from './build.mjs';

buildIfStale();
await import('../dist/main.js');
