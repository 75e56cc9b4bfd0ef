// What main sets up of the process before a command runs.
#pragma once

namespace dtranspile::cli {

// Descriptors 0 to 2 of a process that was started without some of them: a file that is opened
// later would get such a number, and what is printed would be written into it. Reading and writing
// them fails as before.
void occupyStandardStreams();

// Signals that end the process (io::kEndingSignals) remove the folders that it has for what is not
// complete (runtime/io/owned_folder.h), and end it as they would without. What is ignored stays so:
// a command under nohup outlives its terminal. A limit on the size of files is no signal, but an
// error of what writes one.
void removeFoldersWhenEnded();

}  // namespace dtranspile::cli
