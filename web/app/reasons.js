// Why runs end, and what one can do about it: one text for each of the closed set.
export const reasons = {
  exited: { title: "It ended with an error", says: "The program ended by itself, with an exit code that is not 0.", way: "What it printed says why; see Output." },
  raised: { title: "It raised an exception", says: "The function did not return: it raised.", way: "The traceback below names the line." },
  signaled: { title: "It was ended by a signal", says: "The program crashed, or a process of its own ended it.", way: "A crash of native code often comes from a package; run it again with fewer of them." },
  wall_timeout: { title: "It took too long", says: "It did not end within its time.", way: "Give it more with limits.wall_seconds, or let it do less." },
  cpu_timeout: { title: "It used too much processor time", says: "It used up its processor time.", way: "Give it more with limits.cpu_seconds." },
  memory_limit: { title: "It needed too much memory", says: "It wanted more memory than its limit.", way: "Give it more with limits.memory_bytes, or let it hold less at a time." },
  output_limit: { title: "It printed too much", says: "Its output went over the limit.", way: "Write to a file of `outputs`, or raise limits.output_bytes." },
  pids_limit: { title: "It started too many processes", says: "It reached its limit of processes and threads.", way: "Raise limits.processes, or start fewer." },
  disk_limit: { title: "Its disk is full", says: "It wrote more than its disk holds.", way: "Raise limits.disk_bytes or limits.inodes." },
  syscall_blocked: { title: "It made a system call that is not allowed", says: "The sandbox ended it for a system call that tools may not make.", way: "See Isolation; a weaker level allows no more calls." },
  policy_denied: { title: "A rule forbade it", says: "What it asked for is not allowed here.", way: "See Network, and the config of its backend." },
  cancelled: { title: "It was cancelled", says: "A caller cancelled it, or went away." },
  start_failed: { title: "It could not be started", says: "The sandbox could not be made.", way: "Settings shows what this host can isolate; the log of the engine has the cause." },
  lost: { title: "It was lost", says: "The engine or the backend went away while it ran; whether it had an effect is not known.", way: "Run it again if that does no harm." },
};
